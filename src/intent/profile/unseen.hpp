// SPDX-License-Identifier: Apache-2.0
// What may have happened though nothing in a profile says so: what found no room in it, and sources
// of virtual datasets, which HDF5 opens and moves by itself.
#pragma once

#include "intent/profile/model.hpp"

namespace tailrace::intent {

/// Whether a source lost something: what it did not see may yet have happened.  [local]
[[nodiscard]] bool incomplete(const Origin& origin);
/// Whether a virtual dataset was read, in any file.  [local]
[[nodiscard]] bool reads_virtual(const Profile& profile);
/// Whether one was written.  [local]
[[nodiscard]] bool writes_virtual(const Profile& profile);

}  // namespace tailrace::intent
