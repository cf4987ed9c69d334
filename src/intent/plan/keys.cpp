// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/keys.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent::plan {

namespace {

constexpr double kib = 1024, mib = 1048576, gib = 1073741824;

constexpr KeyInfo flag(Key key, std::string_view name, Level level, std::string_view sentence) {
    return {key, name, level, Shape::flag, 0, 1, "", sentence};
}
constexpr KeyInfo bytes(Key key, std::string_view name, Level level, double low, double high,
                        std::string_view sentence) {
    return {key, name, level, Shape::number, low, high, "", sentence};
}
constexpr KeyInfo word(Key key, std::string_view name, Level level, std::string_view words,
                       std::string_view sentence) {
    return {key, name, level, Shape::word, 0, 0, words, sentence};
}

constexpr std::array<KeyInfo, static_cast<std::size_t>(Key::count_of_keys)> key_table{{
    word(Key::hint, "hint", Level::hint, "", "An MPI-IO hint of the file: hint.NAME."),
    word(Key::file_space_strategy, "file_space_strategy", Level::file_create, "page",
         "How free space of a new file is managed."),
    bytes(Key::page_bytes, "page_bytes", Level::file_create, 512, gib,
          "Size of a page of a new file with the strategy page."),
    bytes(Key::alignment_threshold_bytes, "alignment_threshold_bytes", Level::file_access, 1, gib,
          "Objects of at least this size are aligned."),
    bytes(Key::alignment_bytes, "alignment_bytes", Level::file_access, 512, gib,
          "Aligned objects begin at a multiple of this."),
    bytes(Key::meta_block_bytes, "meta_block_bytes", Level::file_access, 2 * kib, 64 * mib,
          "Metadata is allocated in blocks of this size."),
    bytes(Key::small_data_block_bytes, "small_data_block_bytes", Level::file_access, 2 * kib,
          64 * mib, "Small raw data is allocated in blocks of this size."),
    bytes(Key::sieve_buffer_bytes, "sieve_buffer_bytes", Level::file_access, 4 * kib, 64 * mib,
          "Buffer that gathers small accesses to a contiguous dataset."),
    flag(Key::collective_metadata_writes, "collective_metadata_writes", Level::file_access,
         "Metadata is written by all ranks together."),
    flag(Key::collective_metadata_reads, "collective_metadata_reads", Level::file_access,
         "Metadata is read by one rank and handed to the others."),
    bytes(Key::metadata_cache_initial_bytes, "metadata_cache_initial_bytes", Level::file_access,
          kib, 128 * mib, "Size of the metadata cache at the beginning."),
    bytes(Key::metadata_cache_max_bytes, "metadata_cache_max_bytes", Level::file_access, kib,
          128 * mib, "Largest size of the metadata cache."),
    flag(Key::metadata_cache_evictions, "metadata_cache_evictions", Level::file_access,
         "Whether the metadata cache writes entries out before flush and close."),
    flag(Key::metadata_cache_image, "metadata_cache_image", Level::file_access,
         "The metadata cache is kept in the file at close, and read back at once."),
    bytes(Key::page_buffer_bytes, "page_buffer_bytes", Level::file_access, 512, gib,
          "Buffer of pages of a file with the strategy page."),
    word(Key::libver_low, "libver_low", Level::file_access, "v18 v110 v112 v114 v200 latest",
         "The oldest version of the format that new objects use."),
    word(Key::libver_high, "libver_high", Level::file_access, "v18 v110 v112 v114 v200 latest",
         "The newest one."),
    flag(Key::evict_on_close, "evict_on_close", Level::file_access,
         "Metadata of an object leaves the cache when the object is closed."),
    flag(Key::file_locking, "file_locking", Level::file_access, "Whether the file is locked."),
    word(Key::driver, "driver", Level::file_access, "core direct subfiling", "The file driver."),
    bytes(Key::core_increment_bytes, "core_increment_bytes", Level::file_access, 64 * kib, gib,
          "Memory of the core driver grows by this."),
    flag(Key::core_backing_store, "core_backing_store", Level::file_access,
         "The core driver writes the file at close."),
    bytes(Key::subfiling_stripe_bytes, "subfiling_stripe_bytes", Level::file_access, mib, gib,
          "Stripe of a subfile."),
    bytes(Key::subfiling_concentrators_per_node, "subfiling_concentrators_per_node",
          Level::file_access, 1, 64, "Processes of a node that write subfiles."),
    word(Key::layout, "layout", Level::dataset_create, "compact chunked",
         "Layout of a new dataset."),
    {Key::chunk, "chunk", Level::dataset_create, Shape::extents, 1,
     static_cast<double>(largest_chunk), "", "Chunk of a new dataset, in elements."},
    word(Key::fill_time, "fill_time", Level::dataset_create, "never ifset",
         "When fill values are written."),
    word(Key::allocation_time, "allocation_time", Level::dataset_create, "early late incremental",
         "When space is set aside."),
    flag(Key::shuffle, "shuffle", Level::dataset_create, "Bytes are shuffled before compression."),
    bytes(Key::deflate, "deflate", Level::dataset_create, 1, 9, "Level of deflate."),
    bytes(Key::chunk_cache_bytes, "chunk_cache_bytes", Level::dataset_access, kib, 64 * gib,
          "Chunk cache of a dataset."),
    bytes(Key::chunk_cache_slots, "chunk_cache_slots", Level::dataset_access, 2,
          static_cast<double>(largest_slots), "Slots of its hash table, a prime."),
    {Key::chunk_cache_preemption, "chunk_cache_preemption", Level::dataset_access, Shape::real, 0,
     1, "",
     "How readily chunks that were read or written to the end leave the cache. At 1 no others "
     "leave it: it grows past its size."},
    word(Key::write_mode, "write_mode", Level::transfer, "collective independent",
         "How writes are made."),
    word(Key::read_mode, "read_mode", Level::transfer, "collective independent",
         "How reads are made."),
    word(Key::collective_io, "collective_io", Level::transfer, "individual collective",
         "How a collective call moves its data."),
    word(Key::chunk_io, "chunk_io", Level::transfer, "one_io multi_io",
         "A collective call makes one operation, or one per chunk."),
    bytes(Key::conversion_buffer_bytes, "conversion_buffer_bytes", Level::transfer, 64 * kib,
          64 * mib, "Buffer for the conversion of types."),
    bytes(Key::chunk_io_chunks, "chunk_io_chunks", Level::transfer, 0, 1e6,
          "A collective call on so many chunks per rank makes one operation, on fewer one per "
          "chunk."),
    bytes(Key::chunk_io_percent, "chunk_io_percent", Level::transfer, 0, 100,
          "One operation per chunk is collective where so many of the ranks need the chunk."),
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < key_table.size(); ++i)
        if (static_cast<std::size_t>(key_table[i].key) != i) return false;
    return true;
}
static_assert(in_order());

}  // namespace

std::span<const KeyInfo> keys() noexcept { return key_table; }

const KeyInfo* find_key(std::string_view name) noexcept {
    if (name.size() > hint_prefix.size() &&
        std::string_view(name.data(), hint_prefix.size()) == hint_prefix)
        return &key_table.front();
    for (const KeyInfo& info : key_table)
        if (info.key != Key::hint && info.name == name) return &info;
    return nullptr;
}

bool is_word(const KeyInfo& info, std::string_view word) noexcept {
    std::string_view rest = info.words;
    while (!rest.empty()) {
        const std::size_t end = rest.find(' ');
        // No substr(): it can throw, and the hooks have no C++ run-time library.
        if (std::string_view(rest.data(), std::min(end, rest.size())) == word) return true;
        if (end == std::string_view::npos) return false;
        rest.remove_prefix(end + 1);
    }
    return false;
}

}  // namespace tailrace::intent::plan
