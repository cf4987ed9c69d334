// SPDX-License-Identifier: Apache-2.0
// The settings that a plan can hold: one table that planning, checking and applying share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tailrace::intent::plan {

/// Where a setting goes.
enum class Level : std::uint8_t {
    file_create,
    file_access,
    dataset_create,
    dataset_access,
    transfer,
    hint,
};
enum class Shape : std::uint8_t { flag, number, real, word, extents };
/// What applying it can do to a program and its files.
enum class Class : std::uint8_t { safe, layout, collective, opt_in, advice };

/// Numbers are part of the compiled form: new keys go to the end.
enum class Key : std::uint16_t {
    hint,
    file_space_strategy,
    page_bytes,
    alignment_threshold_bytes,
    alignment_bytes,
    meta_block_bytes,
    small_data_block_bytes,
    sieve_buffer_bytes,
    collective_metadata_writes,
    collective_metadata_reads,
    metadata_cache_initial_bytes,
    metadata_cache_max_bytes,
    metadata_cache_evictions,
    metadata_cache_image,
    page_buffer_bytes,
    libver_low,
    libver_high,
    evict_on_close,
    file_locking,
    driver,
    core_increment_bytes,
    core_backing_store,
    subfiling_stripe_bytes,
    subfiling_concentrators_per_node,
    layout,
    chunk,
    fill_time,
    allocation_time,
    shuffle,
    deflate,
    chunk_cache_bytes,
    chunk_cache_slots,
    chunk_cache_preemption,
    write_mode,
    read_mode,
    collective_io,
    chunk_io,
    conversion_buffer_bytes,
    chunk_io_chunks,
    chunk_io_percent,
    count_of_keys,
};

struct KeyInfo {
    Key key;
    std::string_view name;
    Level level;
    Shape shape;
    double low, high;        ///< of a number: both are allowed
    std::string_view words;  ///< of a word: those allowed, with blanks between
    std::string_view sentence;
};

/// All keys, in the order of Key.  [local]
[[nodiscard]] std::span<const KeyInfo> keys() noexcept;
/// The key of a name; hint.NAME is Key::hint. Null where there is none.  [local]
[[nodiscard]] const KeyInfo* find_key(std::string_view name) noexcept;
/// True for one of the words of the key.  [local]
[[nodiscard]] bool is_word(const KeyInfo& info, std::string_view word) noexcept;

inline constexpr std::string_view hint_prefix = "hint.";
inline constexpr std::size_t most_dimensions = 32;             ///< as HDF5 has it
inline constexpr std::uint64_t largest_chunk = 4294967295U;    ///< bytes: 4 GiB less one
inline constexpr std::uint64_t largest_slots = 1U << 24U;      ///< 128 MiB of pointers
inline constexpr std::uint64_t unlimited = ~std::uint64_t{0};  ///< as a largest extent

}  // namespace tailrace::intent::plan
