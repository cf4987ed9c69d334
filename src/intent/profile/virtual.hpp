// SPDX-License-Identifier: Apache-2.0
// Virtual datasets in a profile. HDF5 opens and moves their sources by itself, so that these may be
// read or written where nothing in the profile says so.
#pragma once

#include "intent/profile/model.hpp"

namespace tailrace::intent {

/// Whether a virtual dataset was read, in any file.  [local]
[[nodiscard]] bool reads_virtual(const Profile& profile);
/// Whether one was written.  [local]
[[nodiscard]] bool writes_virtual(const Profile& profile);

}  // namespace tailrace::intent
