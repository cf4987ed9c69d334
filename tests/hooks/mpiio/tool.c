// SPDX-License-Identifier: Apache-2.0
// Another profiling tool: counts one call, by the profiling interface of MPI, and wraps another as
// tools do that wrap all of them. Where TAILRACE_TEST_REFUSE names a hint no file is opened with
// it, as an MPI that does not take it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

int MPI_File_open(MPI_Comm communicator, const char* name, int mode, MPI_Info info,
                  MPI_File* file) {
    const char* refused = getenv("TAILRACE_TEST_REFUSE");
    char value[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (refused != NULL && info != MPI_INFO_NULL)
        PMPI_Info_get(info, refused, MPI_MAX_INFO_VAL, value, &there);
    if (there) return MPI_ERR_INFO_VALUE;
    return PMPI_File_open(communicator, name, mode, info, file);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
    ++calls;
    return PMPI_File_write_at_all(file, at, data, count, type, status);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
    return PMPI_Allreduce(from, to, count, type, operation, communicator);
}

int MPI_Finalize(void) {
    fprintf(stderr, "tool: %d calls\n", calls);
    return PMPI_Finalize();
}
