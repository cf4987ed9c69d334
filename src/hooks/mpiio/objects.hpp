// SPDX-License-Identifier: Apache-2.0
// The objects of MPI that are there from the beginning. Those of Open MPI are variables of its
// library, to be looked up: nothing here is linked with one.
#pragma once

#include "hooks/mpiio/real.hpp"

namespace tailrace::hooks::mpiio::objects {

MPI_Datatype number();  ///< an unsigned one of 8 bytes
MPI_Datatype byte();    ///< MPI_BYTE; null where it is not found
MPI_Op all_bits();      ///< the bits that all have
MPI_Comm no_communicator();
MPI_File no_file();
MPI_Errhandler errors_return();

}  // namespace tailrace::hooks::mpiio::objects
