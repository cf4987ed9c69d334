// SPDX-License-Identifier: Apache-2.0
// pnetcdf_puts FILE HOW: each rank writes 200 rows of 100 numbers, with a call for each. HOW:
// "each" waits for each, "together" for 50 at once; "reopened" opens the file anew for 40 of them.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

enum { rows = 200, columns = 100, some = 50, reopened_rows = 40 };
static int bad;

static void must(int error, const char* what) {
    if (error == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(error));
    bad = 1;
}

int main(int argc, char** argv) {
    static double data[rows][columns];
    int rank, ranks, file, dims[2], variable, requests[some], states[some];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) return 2;
    const int together = strcmp(argv[2], "together") == 0;
    const int reopened = strcmp(argv[2], "reopened") == 0;
    must(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file), "create");
    must(ncmpi_def_dim(file, "y", (MPI_Offset)rows * ranks, &dims[0]), "y");
    must(ncmpi_def_dim(file, "x", columns, &dims[1]), "x");
    must(ncmpi_def_var(file, "v", NC_DOUBLE, 2, dims, &variable), "v");
    must(ncmpi_enddef(file), "enddef");
    const MPI_Offset count[2] = {1, columns};
    for (int row = 0; row < (reopened ? reopened_rows : rows); ++row) {
        const MPI_Offset start[2] = {(MPI_Offset)row * ranks + rank, 0};
        for (int column = 0; column < columns; ++column) data[row][column] = row + column;
        if (reopened) {
            must(ncmpi_close(file), "close");
            must(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_WRITE, MPI_INFO_NULL, &file), "open");
        }
        if (together) {
            must(ncmpi_iput_vara_double(file, variable, start, count, data[row],
                                        &requests[row % some]),
                 "iput");
            if (row % some == some - 1) {
                must(ncmpi_wait_all(file, some, requests, states), "wait");
            }
        } else {
            must(ncmpi_put_vara_double_all(file, variable, start, count, data[row]), "put");
        }
    }
    must(ncmpi_close(file), "close");
    MPI_Finalize();
    return bad;
}
