// SPDX-License-Identifier: Apache-2.0
// What an object is, whatever name or open of its file it was reached by.
#pragma once

#include <string.h>

#include "hooks/vol/library/abi.hpp"

namespace tailrace::hooks::vol {

struct Object;

struct Identity {
    unsigned long file_number;  ///< as its library counts open files
    unsigned char token[16];
    [[nodiscard]] bool is(const Identity& other) const {
        return file_number == other.file_number && memcmp(token, other.token, sizeof token) == 0;
    }
};
/// False where the connector below does not say.  [local]
bool identify(const Object& object, Identity& identity);
/// Of what `location` names, seen from `base`. Where a name is looked up HDF5 may ask all ranks of
/// a file.
bool identify_at(const Object& base, const abi::Location& location, Identity& identity);

}  // namespace tailrace::hooks::vol
