/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank has a few neighbouring columns of every row, and writes them by itself: parallel HDF5
 * in its default mode, pieces of 16 bytes, the ranks' pieces side by side along the fast axis. */
#include <hdf5.h>

#include "common.h"

enum { ROWS = 16384, WIDTH = 2 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "interleaved.h5");
    const long long steps = scaled(&options, 128, 1);

    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate(options.output, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    need(file >= 0, "H5Fcreate");

    const hsize_t whole[2] = {ROWS, (hsize_t)ranks * WIDTH}, mine[2] = {ROWS, WIDTH};
    const hsize_t from[2] = {0, (hsize_t)rank * WIDTH};
    const hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, mine, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, mine, NULL);
    double* values = malloc(sizeof(double) * ROWS * WIDTH);
    need(values != NULL, "malloc");
    for (long long step = 0; step < steps; ++step) {
        char name[32];
        for (int row = 0; row < ROWS; ++row)
            for (int column = 0; column < WIDTH; ++column)
                values[row * WIDTH + column] = (double)step + row + 1e-3 * (rank * WIDTH + column);
        snprintf(name, sizeof name, "step_%05lld", step);
        const hid_t set =
            H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        need(set >= 0, "H5Dcreate2");
        need(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0, "H5Dwrite");
        H5Dclose(set);
    }
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(access);
    need(H5Fclose(file) >= 0, "H5Fclose");
    MPI_Finalize();
    return 0;
}
