// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/functions.hpp"

#include <algorithm>

namespace tailrace::intent::plan {

namespace {

using Numbers = std::span<const std::uint64_t>;

constexpr std::array<FunctionInfo, static_cast<std::size_t>(Function::count_of_functions)>
    function_table{{
        {Function::none, "", {}, false, Shape::number, ""},
        {Function::tile,
         "tile",
         {"max_bytes"},
         true,
         Shape::extents,
         "The given extents, cut to those of the dataset (0: the whole extent), the longest halved "
         "until the chunk has at most max_bytes; as many chunks of equal extents where they would "
         "hold half as much again as a dataset that cannot grow."},
        {Function::block_per_rank,
         "block_per_rank",
         {"dimension", "max_bytes"},
         false,
         Shape::extents,
         "The dataset's extents, with those of one dimension divided by the size of the "
         "communicator, "
         "the longest halved until the chunk has at most max_bytes; the divided one only into "
         "equal "
         "parts. None for a dataset that can grow."},
        {Function::rows_of_bytes,
         "rows_of_bytes",
         {"bytes"},
         false,
         Shape::extents,
         "As many rows of the first dimension as have the given bytes."},
        {Function::fs_blocks,
         "fs_blocks",
         {"count", "low_bytes", "high_bytes"},
         false,
         Shape::number,
         "So many blocks of the file system, but not less than low_bytes nor more than "
         "high_bytes."},
        {Function::cache_of_selection,
         "cache_of_selection",
         {"percent", "low_bytes", "high_bytes"},
         true,
         Shape::number,
         "Bytes of the chunks that a selection of the given extents touches, times percent / 100."},
        {Function::slots_of_selection,
         "slots_of_selection",
         {"factor"},
         true,
         Shape::number,
         "The prime that follows factor times the number of these chunks."},
    }};

Value failed(Value::State state) {
    Value value;
    value.state = state;
    return value;
}

Value number(std::uint64_t result) {
    Value value;
    value.state = Value::State::good;
    value.number = result;
    return value;
}

std::uint64_t bytes_of(const Value& chunk, std::uint64_t type_bytes) {
    std::uint64_t bytes = type_bytes;
    for (std::size_t d = 0; d < chunk.ndims; ++d) bytes = times(bytes, chunk.extents[d]);
    return bytes;
}

/// `wanted` (0: all) within the dataset, whatever its bytes.
Value bounded(Numbers wanted, const Surroundings& around) {
    if (wanted.size() != around.dims.size() || wanted.empty() || wanted.size() > most_dimensions)
        return failed(Value::State::other_rank);
    if (around.type_bytes == 0) return failed(Value::State::not_known);
    Value value;
    value.ndims = wanted.size();
    for (std::size_t d = 0; d < value.ndims; ++d) {
        const std::uint64_t bound =
            d < around.max_dims.size() ? around.max_dims[d] : around.dims[d];
        std::uint64_t extent = wanted[d] == 0 ? around.dims[d] : wanted[d];
        extent = std::min(extent, bound);
        // A dimension without a bound may be empty now; a chunk is not.
        value.extents[d] = std::max<std::uint64_t>(extent, 1);
        if (bound == 0) return failed(Value::State::beyond_extent);
    }
    value.state = Value::State::good;
    return value;
}

/// Halves the longest extent but that of `except`; false where none is longer than 1.
bool halve_longest(Value& value, std::size_t except = most_dimensions) {
    std::uint64_t* longest = nullptr;
    for (std::size_t d = 0; d < value.ndims; ++d)
        if (d != except && (longest == nullptr || value.extents[d] > *longest))
            longest = &value.extents[d];
    if (longest == nullptr || *longest == 1) return false;
    *longest = *longest / 2 + *longest % 2;
    return true;
}

/// The same of at most `most` bytes.
Value fitted(Numbers wanted, std::uint64_t most, const Surroundings& around) {
    Value value = bounded(wanted, around);
    if (value.state != Value::State::good) return value;
    most = std::min(most, largest_chunk);
    while (bytes_of(value, around.type_bytes) > most)
        if (!halve_longest(value)) return failed(Value::State::too_large);
    return value;
}

/// The last chunks of a dimension reach beyond the dataset, and are stored whole: in six dimensions
/// chunks of 8 hold 17 times what extents of 10 do.
Value evened(Value value, const Surroundings& around) {
    if (value.state != Value::State::good) return value;
    std::array<std::uint64_t, most_dimensions> even{};
    double stored = 1;
    for (std::size_t d = 0; d < value.ndims; ++d) {
        const std::uint64_t dim = around.dims[d], chunk = value.extents[d];
        even[d] = chunk;
        const bool grows = d < around.max_dims.size() && around.max_dims[d] != dim;
        if (grows || dim == 0) continue;
        const std::uint64_t chunks = dim / chunk + (dim % chunk != 0 ? 1 : 0);
        even[d] = dim / chunks + (dim % chunks != 0 ? 1 : 0);
        stored *=
            static_cast<double>(chunks) * static_cast<double>(chunk) / static_cast<double>(dim);
    }
    if (stored > 1.5) value.extents = even;
    return value;
}

/// The largest extent up to `most` that divides `block` evenly; 0: none of a sixteenth and more.
std::uint64_t even_part(std::uint64_t block, std::uint64_t most) {
    if (most == 0) return 0;
    constexpr std::uint64_t tries = 4096;
    const std::uint64_t fewest =
        std::max<std::uint64_t>(block / most + (block % most != 0 ? 1 : 0), 1);
    for (std::uint64_t parts = fewest; parts <= block && parts - fewest < tries; ++parts) {
        if (block / parts < most / 16) return 0;
        if (block % parts == 0) return block / parts;
    }
    return 0;
}

Value block_per_rank(Numbers numbers, const Surroundings& around) {
    std::array<std::uint64_t, most_dimensions> block{};
    const std::size_t ndims = around.dims.size();
    const std::size_t divided = numbers[0];
    if (ndims > most_dimensions || divided >= ndims) return failed(Value::State::other_rank);
    // What can grow has a part of its extents when it is created, or none.
    for (std::size_t d = 0; d < ndims && d < around.max_dims.size(); ++d)
        if (around.max_dims[d] != around.dims[d]) return failed(Value::State::not_known);
    std::copy(around.dims.begin(), around.dims.end(), block.begin());
    const std::uint64_t ranks = std::max<std::uint64_t>(around.ranks, 1);
    block[divided] =
        std::max<std::uint64_t>(block[divided] / ranks + (block[divided] % ranks != 0 ? 1 : 0), 1);
    Value value = bounded(Numbers(block).first(ndims), around);
    if (value.state != Value::State::good) return value;
    const std::uint64_t most = std::min(numbers[1], largest_chunk);
    std::uint64_t& own = value.extents[divided];
    while (bytes_of(value, around.type_bytes) > most) {
        // Half of what is odd, rounded up, would lie across the borders of the ranks.
        if (halve_longest(value, own % 2 != 0 ? divided : most_dimensions)) continue;
        own = even_part(own, most / around.type_bytes);
        if (own == 0) return failed(Value::State::too_large);
    }
    return value;
}

Value rows_of_bytes(std::uint64_t bytes, const Surroundings& around) {
    std::array<std::uint64_t, most_dimensions> rows{};
    const std::size_t ndims = around.dims.size();
    if (ndims == 0 || ndims > most_dimensions) return failed(Value::State::other_rank);
    if (around.type_bytes == 0) return failed(Value::State::not_known);
    std::uint64_t row = around.type_bytes;
    for (std::size_t d = 1; d < ndims; ++d)
        row = times(row, std::max<std::uint64_t>(around.dims[d], 1));
    rows[0] = std::max<std::uint64_t>(bytes / row, 1);
    return fitted(Numbers(rows).first(ndims), std::max(bytes, row), around);
}

/// How many chunks a selection of these extents touches at most, wherever it begins.
Value touched(Numbers selection, const Surroundings& around) {
    if (around.chunk.empty()) return failed(Value::State::not_chunked);
    if (selection.size() != around.chunk.size() || around.dims.size() != around.chunk.size() ||
        selection.size() > most_dimensions)
        return failed(Value::State::other_rank);
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < selection.size(); ++d) {
        const std::uint64_t chunk = around.chunk[d], extent = around.dims[d];
        if (chunk == 0) return failed(Value::State::not_chunked);
        const std::uint64_t wanted = selection[d] == 0 ? extent : selection[d];
        const std::uint64_t all = extent / chunk + (extent % chunk != 0 ? 1 : 0);
        const std::uint64_t across = wanted / chunk + (wanted % chunk != 0 ? 1 : 0);
        chunks = times(chunks, std::max<std::uint64_t>(std::min(all, across), 1));
    }
    return number(chunks);
}

Value cache_of_selection(Numbers numbers, Numbers selection, const Surroundings& around) {
    Value chunks = touched(selection, around);
    if (chunks.state != Value::State::good) return chunks;
    if (around.type_bytes == 0) return failed(Value::State::not_known);
    std::uint64_t bytes = around.type_bytes;
    for (const std::uint64_t extent : around.chunk) bytes = times(bytes, extent);
    bytes = times(bytes, chunks.number);
    bytes = bytes / 100 > unlimited / std::max<std::uint64_t>(numbers[0], 1) ? unlimited
            : times(bytes, numbers[0]) == unlimited ? bytes / 100 * numbers[0]
                                                    : bytes * numbers[0] / 100;
    std::uint64_t most = numbers[2];
    if (around.memory_bytes != 0) most = std::min(most, around.memory_bytes);
    // What does not hold the chunks of one selection only costs memory.
    if (bytes > most) return failed(Value::State::too_large);
    return number(std::max(bytes, std::min(numbers[1], most)));
}

bool is_prime(std::uint64_t n) {
    for (std::uint64_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return n > 1;
}

std::uint64_t prime_below(std::uint64_t number) {
    while (number > 2 && !is_prime(number)) --number;
    return number;
}

/// A prime: no more pointers than an eighth of the memory of the process.
Value slots_of_selection(std::uint64_t times_chunks, Numbers selection,
                         const Surroundings& around) {
    const Value chunks = touched(selection, around);
    if (chunks.state != Value::State::good) return chunks;
    std::uint64_t most = largest_slots;
    if (around.memory_bytes != 0)
        most = std::clamp<std::uint64_t>(around.memory_bytes / (8 * sizeof(void*)), 2, most);
    const std::uint64_t wanted = next_prime(times(chunks.number, times_chunks));
    return number(wanted <= most ? wanted : prime_below(most));
}

}  // namespace

std::span<const FunctionInfo> functions() noexcept { return function_table; }

const FunctionInfo* find_function(std::string_view name) noexcept {
    for (const FunctionInfo& info : function_table)
        if (!info.name.empty() && info.name == name) return &info;
    return nullptr;
}

std::string_view text(Value::State state) noexcept {
    switch (state) {
        case Value::State::good:
            return "fits";
        case Value::State::other_rank:
            return "the dataset has another number of dimensions";
        case Value::State::beyond_extent:
            return "the chunk is larger than the dataset can be";
        case Value::State::too_large:
            return "it would be larger than allowed";
        case Value::State::not_chunked:
            return "the dataset has no chunks";
        case Value::State::not_known:
            return "what it follows from is not known";
        case Value::State::out_of_range:
            return "it is out of range";
    }
    return "";
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? unlimited : product;
}

std::uint64_t next_prime(std::uint64_t number) noexcept {
    number = std::clamp<std::uint64_t>(number, 2, largest_slots);
    while (!is_prime(number)) ++number;
    return number;
}

Value evaluate(Function function, Numbers numbers, Numbers extents,
               const Surroundings& around) noexcept {
    const auto index = static_cast<std::size_t>(function);
    if (index == 0 || index >= function_table.size()) return failed(Value::State::out_of_range);
    std::size_t wanted = 0;
    for (const std::string_view& name : function_table[index].numbers)
        wanted += name.empty() ? 0 : 1;
    if (numbers.size() != wanted) return failed(Value::State::out_of_range);
    switch (function) {
        case Function::tile:
            return evened(fitted(extents, numbers[0], around), around);
        case Function::block_per_rank:
            return block_per_rank(numbers, around);
        case Function::rows_of_bytes:
            return rows_of_bytes(numbers[0], around);
        case Function::fs_blocks: {
            if (around.block_bytes == 0) return failed(Value::State::not_known);
            if (numbers[1] > numbers[2]) return failed(Value::State::out_of_range);
            return number(
                std::clamp(times(around.block_bytes, numbers[0]), numbers[1], numbers[2]));
        }
        case Function::cache_of_selection:
            return cache_of_selection(numbers, extents, around);
        case Function::slots_of_selection:
            return slots_of_selection(numbers[0], extents, around);
        default:
            return failed(Value::State::out_of_range);
    }
}

Value literal_chunk(Numbers chunk, const Surroundings& around) noexcept {
    if (chunk.empty() || chunk.size() != around.dims.size() || chunk.size() > most_dimensions)
        return failed(Value::State::other_rank);
    Value value;
    value.ndims = chunk.size();
    for (std::size_t d = 0; d < chunk.size(); ++d) {
        const std::uint64_t bound =
            d < around.max_dims.size() ? around.max_dims[d] : around.dims[d];
        if (chunk[d] == 0 || chunk[d] > bound) return failed(Value::State::beyond_extent);
        value.extents[d] = chunk[d];
    }
    if (around.type_bytes == 0) return failed(Value::State::not_known);
    if (bytes_of(value, around.type_bytes) > largest_chunk) return failed(Value::State::too_large);
    value.state = Value::State::good;
    return value;
}

}  // namespace tailrace::intent::plan
