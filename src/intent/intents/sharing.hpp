// SPDX-License-Identifier: Apache-2.0
// Who touches what: one process or many, and which parts. Internal to src/intent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intent/intents/model.hpp"
#include "intent/intents/patterns.hpp"

namespace tailrace::intent {

/// independent or shared, of a dataset.  [local]
/// @param ranks  processes of the run
[[nodiscard]] Statement sharing_of(const Dataset& dataset, std::uint64_t ranks);
/// file_per_process, one_writer, independent (a serial run) or shared, of the files of a pattern
/// within one profile.  [local]
[[nodiscard]] Statement sharing_of(const PathPattern& pattern, const std::vector<PathUse>& paths,
                                   std::uint64_t profile, std::uint64_t ranks);
/// disjoint_blocks, interleaved, overlapping or same_region: which parts the processes of a shared
/// dataset touch; private where it is not shared.  [local]
[[nodiscard]] Statement how_shared_of(const Dataset& dataset);

/// The same of a file, from what each process touched of it in one direction.  [local]
/// @param from  the layer
[[nodiscard]] Statement how_shared_of(std::vector<ByteRange> ranges, const std::string& from);

/// Statements of several objects as one: the value where all agree, else `mixed`.  [local]
/// @param objects  "datasets", for the evidence
[[nodiscard]] Statement agreed(const std::vector<const Statement*>& all, const std::string& objects,
                               const std::string& mixed);

}  // namespace tailrace::intent
