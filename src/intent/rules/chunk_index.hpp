// SPDX-License-Identifier: Apache-2.0
// What HDF5 keeps for each chunk beside its elements. Internal to src/intent.
#pragma once

#include <cmath>
#include <string>

#include "intent/plan/functions.hpp"
#include "intent/rules/subject.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

[[nodiscard]] inline std::uint64_t chunks_of(const Dataset& dataset) {
    return chunks_touched({dataset.dims, {}, 1, 1}, dataset);
}

/// A key and an address in a B-tree of the default format, whose nodes are nine tenths full where
/// chunks come in their order.
[[nodiscard]] inline std::uint64_t index_bytes(const Dataset& dataset) {
    return plan::times(chunks_of(dataset), 24 + 8 * dataset.chunk.size()) / 9 * 10;
}

/// 5.6 of 5.6372.
[[nodiscard]] inline std::string to_a_tenth(double number) {
    return fraction(std::round(number * 10) / 10);
}

/// Many chunks, which take less room than the index of them.
[[nodiscard]] inline bool mostly_index(const Dataset& dataset) {
    return chunked(dataset) && chunks_of(dataset) >= 1000 &&
           index_bytes(dataset) > size_bytes(dataset).value_or(0);
}

/// ": with the index of them the file takes about 7.7 times its data", where it does.
[[nodiscard]] inline std::string index_text(const Dataset& dataset) {
    const std::uint64_t data = size_bytes(dataset).value_or(0);
    if (data == 0 || !mostly_index(dataset)) return "";
    const double all = static_cast<double>(index_bytes(dataset)) + static_cast<double>(data);
    return say(": with the index of its ", chunks_of(dataset), " chunks it takes about ",
               to_a_tenth(all / static_cast<double>(data)), " times its data in the file");
}

}  // namespace tailrace::intent::rules
