// SPDX-License-Identifier: Apache-2.0
// The MPI of the program, found at run time: also one that a Python module brought in as its own
// dependency, which nobody else sees.
#pragma once

namespace tailrace::hooks {

/// Something that the loaded MPI library itself defines; nullptr: there is no such thing.  [local]
void* find_in_mpi(const char* name);

/// What an MPI says of itself: implementation and version.
struct MpiVersion {
    /// Those of MPICH write more than Open MPI's header says.
    char text[16384 + 1];

    /// Asks the loaded MPI, initialised or not. false: there is none, or it does not say. [local]
    bool ask();
};

}  // namespace tailrace::hooks
