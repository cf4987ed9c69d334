// SPDX-License-Identifier: Apache-2.0
// Counts the collective writes and reads that go to MPI-IO. For one source of a program.
#pragma once

#include "comm/mpi_comm.hpp"

inline int collective_writes = 0;  ///< calls of this rank
inline int collective_reads = 0;

// Before MPI's own in the order of symbols: counts and passes on.
extern "C" int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                                     MPI_Datatype type, MPI_Status* status) {
    ++collective_writes;
    return PMPI_File_write_at_all(file, offset, data, count, type, status);
}

extern "C" int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* data, int count,
                                    MPI_Datatype type, MPI_Status* status) {
    ++collective_reads;
    return PMPI_File_read_at_all(file, offset, data, count, type, status);
}
