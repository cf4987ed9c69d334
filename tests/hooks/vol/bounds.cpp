// SPDX-License-Identifier: Apache-2.0
// vol_bounds alone FILE: makes a file and reads it back, with no MPI of its own: HDF5 starts it.
// vol_bounds caches FILE BYTES [held]: ranks write a chunk of so many bytes each, and read the file
// together. Rank 0 prints the bytes and the slots of the cache on each rank. "held": it has the
// dataset open before, by its token. vol_bounds many FILE: rank 1 makes 65530 datasets in memory,
// then all ranks 12 in FILE. Rank 0 prints how many of those have chunks on each rank.
#include <hdf5.h>
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

/// What each rank has found, in a line.
void tell(const char* what, long long found) {
    std::vector<long long> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&found, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::printf("%s", what);
    for (const long long one : all) std::printf(" %lld", one);
    std::printf("\n");
}

/// Closes the file and the space too.
/// @param space  of the dataset, with what is to be written of it
void write_dataset(hid_t file, const char* name, hid_t type, const void* values, hid_t space,
                   hid_t creation = H5P_DEFAULT, hid_t memory = H5S_ALL) {
    const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
}

bool alone(const char* name) {
    const hsize_t dims[1] = {100};
    std::vector<int> values(100, 7);
    const hid_t made = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (made < 0) return false;
    write_dataset(made, "x", H5T_NATIVE_INT, values.data(), H5Screate_simple(1, dims, nullptr));
    std::vector<int> found(100);
    const hid_t opened = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t read = H5Dopen2(opened, "x", H5P_DEFAULT);
    H5Dread(read, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data());
    H5Dclose(read);
    H5Fclose(opened);
    return found == values;
}

hid_t together() {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    return access;
}

hsize_t chunk_bytes = 0;

/// The chunk of a rank, in the file.
hid_t chunk_of(int number) {
    const hsize_t dims[1] = {chunk_bytes * static_cast<hsize_t>(ranks)};
    const hsize_t start[1] = {chunk_bytes * static_cast<hsize_t>(number)};
    const hsize_t count[1] = {chunk_bytes};
    const hid_t space = H5Screate_simple(1, dims, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    return space;
}

void write_chunks(const char* name, hid_t access, hid_t memory) {
    const std::vector<char> own(chunk_bytes, static_cast<char>(rank + 1));
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk_bytes);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    write_dataset(file, "big", H5T_NATIVE_CHAR, own.data(), chunk_of(rank), creation, memory);
    H5Pclose(creation);
}

hid_t open_by_token(hid_t file) {
    H5O_info2_t info;
    if (H5Oget_info_by_name3(file, "big", &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) return -1;
    return H5Oopen_by_token(file, info.token);
}

bool caches(const char* name, bool held) {
    const hid_t access = together();
    const hid_t memory = H5Screate_simple(1, &chunk_bytes, nullptr);
    write_chunks(name, access, memory);
    const int next = (rank + 1) % ranks;
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, access);
    const hid_t before = held && rank == 0 ? open_by_token(file) : -1;
    const hid_t dataset = H5Dopen2(file, "big", H5P_DEFAULT);
    const hid_t list = H5Dget_access_plist(dataset);
    std::size_t slots = 0;
    std::size_t bytes = 0;
    double preemption = 0;
    H5Pget_chunk_cache(list, &slots, &bytes, &preemption);
    tell("caches", static_cast<long long>(bytes));
    tell("slots", static_cast<long long>(slots));
    const hid_t collective = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio_chunk_opt(collective, H5FD_MPIO_CHUNK_MULTI_IO);
    std::vector<char> found(chunk_bytes);
    const hid_t space = chunk_of(next);
    const herr_t status =
        H5Dread(dataset, H5T_NATIVE_CHAR, memory, space, collective, found.data());
    for (const hid_t one : {list, collective, access}) H5Pclose(one);
    H5Sclose(space);
    H5Sclose(memory);
    if (before >= 0) H5Oclose(before);
    H5Dclose(dataset);
    H5Fclose(file);
    return status >= 0 && found == std::vector<char>(chunk_bytes, static_cast<char>(next + 1));
}

/// Makes datasets, and says how many of them have chunks.
int make_datasets(hid_t file, int count) {
    const hsize_t dims[1] = {8};
    const hid_t space = H5Screate_simple(1, dims, nullptr);
    int chunked = 0;
    for (int number = 0; number < count; ++number) {
        const std::string name = "d" + std::to_string(number);
        const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
        const hid_t list = H5Dget_create_plist(dataset);
        if (H5Pget_layout(list) == H5D_CHUNKED) ++chunked;
        H5Pclose(list);
        H5Dclose(dataset);
    }
    H5Sclose(space);
    return chunked;
}

bool many(const char* name) {
    constexpr int before = 65530;
    bool good = true;
    if (rank == 1) {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fapl_core(access, 64 << 20, false);
        const hid_t file = H5Fcreate("own.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
        good = make_datasets(file, before) == before;
        H5Fclose(file);
        H5Pclose(access);
    }
    const hid_t access = together();
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    tell("chunked", make_datasets(file, 12));
    H5Fclose(file);
    H5Pclose(access);
    return good;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::string mode = words[1];
    if (mode == "alone") {
        const bool good = alone(words[2]);
        std::puts(good ? "content right" : "content wrong");
        return good ? 0 : 1;
    }
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count > 3) chunk_bytes = std::stoull(words[3]);
    int all = (mode == "caches" ? caches(words[2], count > 4) : many(words[2])) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("content %s\n", all != 0 ? "right" : "wrong");
    MPI_Finalize();
    return all != 0 ? 0 : 1;
}
