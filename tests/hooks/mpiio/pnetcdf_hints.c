// SPDX-License-Identifier: Apache-2.0
// pnetcdf_hints FILE NAME...: rank 0 prints which of these hints are in force of a new file.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, file, dimension, variable;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2) return 2;
    int bad = ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file);
    bad |= ncmpi_def_dim(file, "x", 1000, &dimension);
    bad |= ncmpi_def_var(file, "v", NC_DOUBLE, 1, &dimension, &variable);
    bad |= ncmpi_enddef(file);
    bad |= ncmpi_inq_file_info(file, &info);
    for (int at = 2; at < argc; ++at) {
        char value[256] = "";
        int there = 0;
        MPI_Info_get(info, argv[at], sizeof value - 1, value, &there);
        if (rank == 0) printf("%s=%s\n", argv[at], there ? value : "none");
    }
    MPI_Offset offset = 0;
    bad |= ncmpi_inq_varoffset(file, variable, &offset);
    if (rank == 0) printf("offset=%lld\n", (long long)offset);
    MPI_Info_free(&info);
    bad |= ncmpi_close(file);
    MPI_Finalize();
    return bad != 0;
}
