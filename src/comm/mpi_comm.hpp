// SPDX-License-Identifier: Apache-2.0
// The MPI face of Comm, and the only door to mpi.h for the rest of the library.
#pragma once

// The C++ bindings of old MPIs are long gone from the standard.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <string>

#include "comm/comm.hpp"

namespace tailrace::comm {

/// A Comm over a duplicate of `parent` with MPI_ERRORS_RETURN; the duplicate is freed with the
/// last copy, which must be gone before MPI_Finalize.  [collective]
/// @param largest_message_bytes  MPI-3.1 counts are int: what is longer goes in pieces
/// @throws core::Error{Code::internal} when MPI refuses
[[nodiscard]] Comm from_mpi(MPI_Comm parent,
                            std::size_t largest_message_bytes = std::size_t{1} << 30);

/// The MPI communicator of `comm`; MPI_COMM_SELF for Comm::self().  [local]
/// @throws core::Error{Code::unsupported} where its ranks are threads
/// @pre MPI is initialised
[[nodiscard]] MPI_Comm native(const Comm& comm);

/// While it lives, calls that belong to no communicator of ours (datatypes, infos, the duplication
/// of somebody else's) return their errors: MPI gives those to the handler of MPI_COMM_WORLD, which
/// ends the program unless it was changed.  [local]
class ErrorsReturn {
public:
    ErrorsReturn() noexcept;
    ~ErrorsReturn();
    ErrorsReturn(const ErrorsReturn&) = delete;
    ErrorsReturn& operator=(const ErrorsReturn&) = delete;

private:
    MPI_Errhandler x_before = MPI_ERRHANDLER_NULL;
    bool x_set = false;
};

/// Text of an MPI error code, with its class.  [local]
[[nodiscard]] std::string error_text(int code);

/// Throws core::Error{Code::io or internal} with MPI's text where `code` is not MPI_SUCCESS.
/// [local]
void check(int code, const std::string& call, const std::string& where = {});

/// "Open MPI 4.1.4" or "MPICH 4.0.2".  [local]
[[nodiscard]] std::string library_version();

}  // namespace tailrace::comm
