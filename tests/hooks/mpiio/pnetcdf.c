// SPDX-License-Identifier: Apache-2.0
// pnetcdf FILE [MORE]: a variable of 4 x 1000 numbers, a row per rank, written collectively twice;
// then MORE times another variable, each with its own redefinition, and once a redefinition for
// nothing.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

static int bad;

static void must(int error, const char* what) {
    if (error == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(error));
    bad = 1;
}

int main(int argc, char** argv) {
    static double row[1000];
    int rank, ranks, file, dims[2], variable;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) return 2;
    const int more = argc > 2 ? atoi(argv[2]) : 0;
    must(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file), "create");
    must(ncmpi_def_dim(file, "y", ranks, &dims[0]), "y");
    must(ncmpi_def_dim(file, "x", 1000, &dims[1]), "x");
    must(ncmpi_def_var(file, "v", NC_DOUBLE, 2, dims, &variable), "v");
    must(ncmpi_enddef(file), "enddef");
    const MPI_Offset start[2] = {rank, 0};
    const MPI_Offset count[2] = {1, 1000};
    for (int k = 0; k < 2; ++k) {
        must(ncmpi_put_vara_double_all(file, variable, start, count, row), "put");
    }
    for (int k = 0; k < more; ++k) {
        char name[32];
        snprintf(name, sizeof name, "more_%d", k);
        must(ncmpi_redef(file), "redef");
        must(ncmpi_def_var(file, name, NC_DOUBLE, 2, dims, &variable), name);
        must(ncmpi_enddef(file), "enddef");
        must(ncmpi_put_vara_double_all(file, variable, start, count, row), name);
    }
    if (more > 0) {
        must(ncmpi_redef(file), "redef");
        must(ncmpi_enddef(file), "enddef");
    }
    must(ncmpi_close(file), "close");
    MPI_Finalize();
    return bad;
}
