// SPDX-License-Identifier: Apache-2.0
// refused_writes FILE HOW: ranks write rows of a dataset of packed chunks. HOW: "alone" is what
// HDF5 refuses; "together" is collective; "one_less" as that, but the last rank leaves one
// out, by which all hang until an alarm ends them.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { rows = 8, columns = 1000 };

int main(int argc, char** argv) {
    static double row[columns];
    int rank, ranks, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) return 2;
    const int alone = strcmp(argv[2], "alone") == 0;
    const int one_less = strcmp(argv[2], "one_less") == 0 && rank == ranks - 1;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t dims[2] = {(hsize_t)rows * (hsize_t)ranks, columns}, chunk[2] = {rows, columns};
    const hid_t space = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, chunk);
    H5Pset_deflate(list, 1);
    const hid_t x = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, alone ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    const hsize_t count[2] = {1, columns};
    const hid_t memory = H5Screate_simple(2, count, NULL);
    if (strcmp(argv[2], "one_less") == 0) alarm(4);
    for (int at = 0; at < rows - one_less; ++at) {
        const hsize_t start[2] = {(hsize_t)rank * rows + (hsize_t)at, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        if (H5Dwrite(x, H5T_NATIVE_DOUBLE, memory, space, how, row) < 0) bad = 1;
    }
    H5Dclose(x);
    H5Fclose(file);
    MPI_Finalize();
    return bad;
}
