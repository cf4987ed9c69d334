// SPDX-License-Identifier: Apache-2.0
// HDF5's subfiling driver: a file of several ranks as one file per node. HDF5 opens it only where
// all ranks have asked MPI for threads, and knows a file that has subfiles by no more than its
// name.
#pragma once

#include "hooks/vol/library/library.hpp"

namespace tailrace::hooks::vol {

/// Whether subfiles belong to the file that is there now. A file that was made anew without the
/// driver may stand beside those of an older one; HDF5 would read those.  [local]
bool has_subfiles(const char* path);

/// Whether MPI was started with MPI_THREAD_MULTIPLE.  [local]
bool has_threads(const Library& library);

/// Changes the driver of a list with MPI-IO; the communicator stays. False where this HDF5 was
/// built without the driver or does not take it.  [local]
bool put_subfiles(const Library& library, Id access, uint64_t stripe_bytes);

}  // namespace tailrace::hooks::vol
