// SPDX-License-Identifier: Apache-2.0
// Whether a run made a file or found it there.
#pragma once

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// yes, no or not known: counted, else from the mode in which it was opened, else from what was
/// read of it before anything was written.  [local]
[[nodiscard]] Statement created_of(const File& file);

}  // namespace tailrace::intent
