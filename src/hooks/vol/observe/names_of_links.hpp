// SPDX-License-Identifier: Apache-2.0
// Names of datasets that are opened without one, as by references. HDF5 looks through the links of
// the file for each; here they are looked through once, for all.
#pragma once

#include "hooks/vol/objects/identity.hpp"
#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

struct FoundName {
    char* path;  ///< nullptr: none; the caller frees it
    bool sure;   ///< that is it, or all links were seen and it has none
};
/// A name of the object in its file. The links are looked through if this file is another one than
/// the last time, until the time `end` at most; once more if that came too soon, and there is twice
/// the time now.
/// @param anew  its link may be newer than that: looks once more if it is not among them
FoundName name_by_links(const Object& object, const Identity& identity, int64_t end, bool anew);
/// A link has gone or moved, in whatever file.  [local]
void forget_links();

}  // namespace tailrace::hooks::vol
