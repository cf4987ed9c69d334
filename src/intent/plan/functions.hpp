// SPDX-License-Identifier: Apache-2.0
// Values that follow from the dataset or file at hand: few named functions of what HDF5 requires
// to be equal on all ranks. No memory is allocated and nothing is thrown, so that the hooks can
// call them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "intent/plan/keys.hpp"

namespace tailrace::intent::plan {

/// Numbers are part of the compiled form: new functions go to the end.
enum class Function : std::uint16_t {
    none,
    tile,
    block_per_rank,
    rows_of_bytes,
    fs_blocks,
    cache_of_selection,
    slots_of_selection,
    count_of_functions,
};

struct FunctionInfo {
    Function function;
    std::string_view name;
    std::array<std::string_view, 3> numbers;  ///< names of its arguments; empty: not used
    bool extents;                             ///< takes one number per dimension besides
    Shape result;
    std::string_view sentence;
};

/// What is known where the setting is applied, the same on all ranks.
struct Surroundings {
    std::span<const std::uint64_t> dims, max_dims;  ///< max_dims: `unlimited` for no bound
    std::span<const std::uint64_t> chunk;           ///< of an existing dataset, else empty
    std::uint64_t type_bytes = 0, ranks = 1;
    std::uint64_t block_bytes = 0;   ///< of the file system; 0: not known
    std::uint64_t memory_bytes = 0;  ///< that a cache may have; 0: no bound but the plan's
};

/// A value that fits, or why there is none.
struct Value {
    enum class State : std::uint8_t {
        good,
        other_rank,     ///< the dataset has another number of dimensions
        beyond_extent,  ///< a literal chunk is larger than the dataset can be
        too_large,      ///< a chunk of 4 GiB or more
        not_chunked,    ///< a function of chunks, and there are none
        not_known,      ///< the file system tells no block, or the type no size
        out_of_range,
    };
    State state = State::not_known;
    std::uint64_t number = 0;
    std::array<std::uint64_t, most_dimensions> extents{};
    std::size_t ndims = 0;
};

[[nodiscard]] std::span<const FunctionInfo> functions() noexcept;  ///< [local]
/// Null where there is no such function.  [local]
[[nodiscard]] const FunctionInfo* find_function(std::string_view name) noexcept;
/// "the dataset has another number of dimensions", ...: for a person.  [local]
[[nodiscard]] std::string_view text(Value::State state) noexcept;

/// A function at a place.  [local]
/// @param numbers  its arguments, in the order of FunctionInfo::numbers
/// @param extents  one number per dimension, where it takes them
[[nodiscard]] Value evaluate(Function function, std::span<const std::uint64_t> numbers,
                             std::span<const std::uint64_t> extents,
                             const Surroundings& around) noexcept;
/// A literal chunk at a place: dropped where it does not fit.  [local]
[[nodiscard]] Value literal_chunk(std::span<const std::uint64_t> chunk,
                                  const Surroundings& around) noexcept;
/// The smallest prime >= number (at least 2).  [local]
[[nodiscard]] std::uint64_t next_prime(std::uint64_t number) noexcept;
/// a * b, or the largest number where that does not fit.  [local]
[[nodiscard]] std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace tailrace::intent::plan
