/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank records its history in a file of its own, a line of 16 values at a time, in chunks of
 * one line (serial HDF5 calls in an MPI program). */
#include <hdf5.h>

#include "common.h"

enum { WIDTH = 16 };

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct Options options = options_of(argc, argv, "", "history");
    const hsize_t lines = (hsize_t)scaled(&options, 900000, 16);

    char name[4096];
    snprintf(name, sizeof name, "%s_%04d.h5", options.output, rank);
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t whole[2] = {lines, WIDTH}, line[2] = {1, WIDTH};
    const hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, line, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, line);
    const hid_t set =
        H5Dcreate2(file, "history", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    need(file >= 0 && set >= 0, "H5Dcreate2");
    for (hsize_t number = 0; number < lines; ++number) {
        const hsize_t from[2] = {number, 0};
        double values[WIDTH];
        for (int column = 0; column < WIDTH; ++column)
            values[column] = 1000.0 * rank + (double)number + 0.001 * column;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, line, NULL);
        need(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0, "H5Dwrite");
    }
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(memory);
    H5Sclose(space);
    need(H5Fclose(file) >= 0, "H5Fclose");
    MPI_Finalize();
    return 0;
}
