// SPDX-License-Identifier: Apache-2.0
// Communicators of a program as the numbers by which Fortran calls them: for doors without mpi.h.
#pragma once

#include "comm/comm.hpp"

namespace tailrace::comm {

/// from_mpi() of the communicator with this handle.  [collective]
/// @throws core::Error{Code::wrong_call} if MPI does not run
[[nodiscard]] Comm from_handle(int fortran_handle);
/// The handle of native().  [local]
[[nodiscard]] int handle_of(const Comm& comm);

}  // namespace tailrace::comm
