// SPDX-License-Identifier: Apache-2.0
// The MPI face of Comm, and the only door to mpi.h for the rest of the library.
#pragma once

// The C++ bindings of old MPIs are long gone from the standard.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>

#include "comm/comm.hpp"

namespace tailrace::comm {

/// A Comm over a duplicate of `parent` with MPI_ERRORS_RETURN; the duplicate is freed with the
/// last copy, which must be gone before MPI_Finalize.  [collective]
/// @throws core::Error{Code::internal} when MPI refuses
[[nodiscard]] Comm from_mpi(MPI_Comm parent);

/// The MPI communicator of `comm`; MPI_COMM_SELF for Comm::self().  [local]
/// @pre MPI is initialised
[[nodiscard]] MPI_Comm native(const Comm& comm);

/// Text of an MPI error code, with its class.  [local]
[[nodiscard]] std::string error_text(int code);

/// Throws core::Error{Code::io or internal} with MPI's text where `code` is not MPI_SUCCESS.
/// [local]
void check(int code, const std::string& call, const std::string& where = {});

/// "Open MPI 4.1.4" or "MPICH 4.0.2".  [local]
[[nodiscard]] std::string library_version();

}  // namespace tailrace::comm
