/* SPDX-License-Identifier: Apache-2.0 */
/* A compressed field written by all ranks together, in small chunks out of a tutorial: the ranks
 * agree on every one of them, at every step (parallel HDF5, gzip). */
#include <hdf5.h>

#include "common.h"

enum { ROWS = 1024, COLUMNS = 2048, TILE = 32 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "filtered.h5");
    const long long steps = scaled(&options, 96, 1);

    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
    const hid_t file = H5Fcreate(options.output, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    need(file >= 0, "H5Fcreate");

    const hsize_t whole[2] = {(hsize_t)ranks * ROWS, COLUMNS}, mine[2] = {ROWS, COLUMNS};
    const hsize_t from[2] = {(hsize_t)rank * ROWS, 0}, chunk[2] = {TILE, TILE};
    const hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, mine, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, mine, NULL);
    H5Pset_chunk(creation, 2, chunk);
    H5Pset_deflate(creation, 1);
    float* values = malloc(sizeof(float) * ROWS * COLUMNS);
    need(values != NULL, "malloc");
    for (long long step = 0; step < steps; ++step) {
        char name[32];
        for (int row = 0; row < ROWS; ++row)
            for (int column = 0; column < COLUMNS; ++column)
                values[row * COLUMNS + column] =
                    (float)((row + rank * ROWS) / 16 + column / 8 + step);
        snprintf(name, sizeof name, "step_%05lld", step);
        const hid_t set =
            H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        need(set >= 0, "H5Dcreate2");
        need(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, together, values) >= 0, "H5Dwrite");
        H5Dclose(set);
    }
    free(values);
    H5Pclose(creation);
    H5Pclose(together);
    H5Pclose(access);
    H5Sclose(memory);
    H5Sclose(space);
    need(H5Fclose(file) >= 0, "H5Fclose");
    MPI_Finalize();
    return 0;
}
