// SPDX-License-Identifier: Apache-2.0
// The intents of one dataset, and those of a file's lower layers. Internal to src/intent.
#pragma once

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// All but naming, sequence and the statements that need other objects.  [local]
[[nodiscard]] DatasetIntent intent_of(const Dataset& dataset, const File& file,
                                      std::uint64_t ranks);
[[nodiscard]] LayerIntent intent_of(const PosixFile& file, const std::string& layer,
                                    const ProcessSet& processes);  ///< [local]
[[nodiscard]] LayerIntent intent_of(const MpiioFile& file);        ///< [local]

}  // namespace tailrace::intent
