// SPDX-License-Identifier: Apache-2.0
// vol_ranks FILE alike|uneven: writes rows collectively, then independently, and reads them back.
// "uneven": the last rank makes one independent write more.
#include <hdf5.h>
#include <mpi.h>

#include <cstring>
#include <vector>

int main(int count, char** words) {
    MPI_Init(&count, &words);
    if (count < 3) return 2;
    const bool uneven = std::strcmp(words[2], "uneven") == 0;
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_alignment(access, 1024, 4096);
    const hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t dims[2] = {static_cast<hsize_t>(8 * ranks), 16};
    const hsize_t rows[2] = {4, 16};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t memory = H5Screate_simple(2, rows, nullptr);
    const hid_t chunks = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(chunks, 2, rows);
    const hid_t collective = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
    std::vector<double> values(64, rank);
    for (const char* name : {"collective", "chunked", "independent"}) {
        const bool is_chunked = std::strcmp(name, "chunked") == 0;
        const bool alone = std::strcmp(name, "independent") == 0;
        const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                         is_chunked ? chunks : H5P_DEFAULT, H5P_DEFAULT);
        for (int half = 0; half < 2; ++half) {
            const hsize_t start[2] = {static_cast<hsize_t>(4 * (half * ranks + rank)), 0};
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, rows, nullptr);
            const hid_t list = alone ? H5P_DEFAULT : collective;
            if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, list, values.data()) < 0)
                return 1;
        }
        if (alone && uneven && rank == ranks - 1) {
            H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data());
        }
        if (H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, collective, values.data()) < 0)
            return 1;
        H5Dclose(dataset);
    }
    H5Pclose(collective);
    H5Pclose(chunks);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
