// SPDX-License-Identifier: Apache-2.0
// Which implementation of MPI-IO is at work. Free of mpi.h.
#pragma once

#include <string>

namespace tailrace::comm {

/// "OMPIO 4.1.4", "ROMIO (Open MPI 4.1.4)" or "ROMIO (MPICH 4.0.2)". MPI has no call for it, and
/// hints tell nothing reliable; Open MPI loads its implementations as components when a file is
/// opened, and the list of loaded libraries shows which. Where both are there the one that Open
/// MPI prefers is named: OMPIO, on Lustre ROMIO.  [local]
/// @param on_lustre  the file lies on Lustre
/// @pre a file is open through MPI-IO, or was
/// @returns "MPI-IO of <library>" where it cannot be told
[[nodiscard]] std::string mpi_io_implementation(bool on_lustre = false);

/// What is wrong with an MPI_Info entry for this MPI, which would end the program where the default
/// error handler is in force; empty: nothing.  [local]
[[nodiscard]] std::string why_no_hint(const std::string& key, const std::string& value);
/// "keys of 1 to 35 characters and values of 1 to 255".  [local]
[[nodiscard]] std::string hint_limits();

}  // namespace tailrace::comm
