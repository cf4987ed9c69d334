// SPDX-License-Identifier: Apache-2.0
// What H5Dread gives to the program, hashed: the proof that a program which only reads got the same
// with a plan as without.
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

/// One call of H5Dread, as the library has it.
struct Read {
    size_t count;
    void** objects;
    const Id* memory_types;
    const Id* memory_spaces;
    const Id* file_spaces;
    void** buffers;
};

/// Hashes what a read that has succeeded put into memory.  [local]
/// @param running  it is still under way: what it gives is not known
void hash_delivered(const Read& read, bool running);

}  // namespace tailrace::hooks::vol
