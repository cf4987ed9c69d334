/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint with NaN as fill value: in parallel HDF5 allocates every variable at its creation
 * and fills it, and then the ranks write all of it. */
#include <hdf5.h>
#include <math.h>

#include "common.h"

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "checkpoint.h5");
    const hsize_t mine = 1 << 20, whole = mine * (hsize_t)ranks, from = mine * (hsize_t)rank;
    const long long variables = scaled(&options, 150, 1);

    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
    const hid_t file = H5Fcreate(options.output, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    need(file >= 0, "H5Fcreate");

    const double nothing = NAN;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nothing);
    const hid_t space = H5Screate_simple(1, &whole, NULL),
                memory = H5Screate_simple(1, &mine, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &mine, NULL);
    double* values = malloc(sizeof(double) * mine);
    need(values != NULL, "malloc");
    for (long long variable = 0; variable < variables; ++variable) {
        char name[32];
        for (hsize_t at = 0; at < mine; ++at)
            values[at] = (double)variable + 1e-6 * (double)(from + at);
        snprintf(name, sizeof name, "variable_%03lld", variable);
        const hid_t set =
            H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        need(set >= 0, "H5Dcreate2");
        need(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, together, values) >= 0, "H5Dwrite");
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
