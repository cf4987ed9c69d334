// SPDX-License-Identifier: Apache-2.0
// What a file is for: durable or not, data or description, rhythm. Internal to src/intent.
#pragma once

#include <string>
#include <vector>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// durable unless the file lies in memory (scratch), or is read back in a folder for temporary
/// files without ever being flushed (recomputable).  [local]
/// @param type  what is done with its data
[[nodiscard]] Statement reliability_of(const File& file, const Run& run, const std::string& type);
/// Whether opening, creating and describing outweigh moving data.  [local]
[[nodiscard]] Statement metadata_dominated(const File& file);
constexpr std::size_t most_bursts = 64;  ///< as are kept
/// The output and input over time.  [local]
[[nodiscard]] Statement rhythm_of(const Profile& profile, std::vector<Burst>& bursts);

}  // namespace tailrace::intent
