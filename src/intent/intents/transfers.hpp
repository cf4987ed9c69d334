// SPDX-License-Identifier: Apache-2.0
// How data is moved: order, shapes, sizes, together or not. Internal to src/intent.
#pragma once

#include <cstdint>
#include <vector>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

constexpr std::size_t most_frequent = 8;  ///< as many shapes and sizes are kept

/// Order of the places of a dataset's transfers within a process.  [local]
[[nodiscard]] Statement order_of(const Dataset& dataset);
/// The same of a file's system calls.  [local]
/// @param processes  how many made them; the first call of each follows none
[[nodiscard]] Statement order_of(const PosixFile& file, const std::string& layer,
                                 std::uint64_t processes);
/// The same of a file's MPI-IO calls, in the file and not in the view.  [local]
[[nodiscard]] Statement order_of(const MpiioFile& file);
/// Whether a dataset's transfers were collective.  [local]
[[nodiscard]] Statement collective_of(const Dataset& dataset);
/// Whether a file's MPI-IO calls were.  [local]
[[nodiscard]] Statement collective_of(const MpiioFile& file);
/// Whether every element was written.  [local]
[[nodiscard]] Statement coverage_of(const Dataset& dataset);
/// Whether it grows at its end.  [local]
[[nodiscard]] Statement append_of(const Dataset& dataset);
/// The same of system calls.  [local]
[[nodiscard]] Statement append_of(const PosixFile& file, const std::string& layer,
                                  std::uint64_t processes);
/// The same of a file's MPI-IO calls.  [local]
[[nodiscard]] Statement append_of(const MpiioFile& file);
/// Calls that keep to the blocks of the file system.  [local]
[[nodiscard]] Statement alignment_of(const PosixFile& file);

/// Shapes of reads and writes together, most frequent first.  [local]
[[nodiscard]] std::vector<Segment> segments_of(const Dataset& dataset);
/// Their sizes; equal sizes of different shapes joined.  [local]
[[nodiscard]] std::vector<TransferSize> sizes_of(const std::vector<Segment>& segments,
                                                 const Count& element_bytes);
/// Sizes of system or MPI-IO calls.  [local]
[[nodiscard]] std::vector<TransferSize> sizes_of(
    const std::vector<std::vector<FrequentSize>>& frequent);
/// Both lists as one, most frequent first.  [local]
void add(std::vector<TransferSize>& to, const std::vector<TransferSize>& sizes);
void add(std::vector<Segment>& to, const std::vector<Segment>& segments);  ///< [local]

}  // namespace tailrace::intent
