// SPDX-License-Identifier: Apache-2.0
// vol_apply_ranks FILE [own]: all ranks create a file together, write rows of two datasets with the
// library's default transfer list, one of them compressed, and read everything back. Rank 0 prints
// what was in force. "own": the program sets an alignment and a hint itself. "one": a hint on
// rank 1.
#include <hdf5.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr hsize_t rows_of_rank = 8;
constexpr hsize_t columns = 32;
int rank = 0;
int ranks = 0;

/// Writes this rank's rows; returns the library's status.
herr_t write_rows(hid_t dataset, hid_t list) {
    const hsize_t dims[2] = {rows_of_rank * static_cast<hsize_t>(ranks), columns};
    const hsize_t mine[2] = {rows_of_rank, columns};
    const hsize_t start[2] = {rows_of_rank * static_cast<hsize_t>(rank), 0};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t memory = H5Screate_simple(2, mine, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, mine, nullptr);
    std::vector<int> values(rows_of_rank * columns);
    for (std::size_t at = 0; at < values.size(); ++at)
        values[at] = rank * 1000 + static_cast<int>(at);
    const herr_t status = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, list, values.data());
    H5Sclose(space);
    H5Sclose(memory);
    return status;
}

bool right(hid_t dataset) {
    std::vector<int> values(rows_of_rank * columns * static_cast<std::size_t>(ranks));
    if (H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        return false;
    const std::size_t each = rows_of_rank * columns;
    for (std::size_t at = 0; at < values.size(); ++at)
        if (values[at] != static_cast<int>(at / each) * 1000 + static_cast<int>(at % each))
            return false;
    return true;
}

void print_file(hid_t file) {
    const hid_t list = H5Fget_access_plist(file);
    hsize_t threshold = 0;
    hsize_t bytes = 0;
    H5Pget_alignment(list, &threshold, &bytes);
    void* handle = nullptr;
    H5Fget_vfd_handle(file, list, &handle);
    MPI_Info info = MPI_INFO_NULL;
    MPI_File_get_info(*static_cast<MPI_File*>(handle), &info);
    if (rank == 0)
        std::printf("alignment %d %d\n", static_cast<int>(threshold), static_cast<int>(bytes));
    for (const char* name : {"cb_nodes", "cb_buffer_size"}) {
        char value[64] = "none";
        int there = 0;
        MPI_Info_get(info, name, sizeof value - 1, value, &there);
        if (rank == 0) std::printf("%s %s\n", name, there != 0 ? value : "none");
    }
    MPI_Info_free(&info);
    H5Pclose(list);
}

void print_chunk(const char* name, hid_t dataset) {
    const hid_t list = H5Dget_create_plist(dataset);
    hsize_t chunk[2] = {0, 0};
    const bool chunked = H5Pget_layout(list) == H5D_CHUNKED;
    if (chunked) H5Pget_chunk(list, 2, chunk);
    if (rank == 0)
        std::printf("%s %dx%d\n", name, static_cast<int>(chunk[0]), static_cast<int>(chunk[1]));
    H5Pclose(list);
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    if (count < 2) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool own = count > 2 && std::strcmp(words[2], "own") == 0;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    MPI_Info info = MPI_INFO_NULL;
    if (own) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "cb_nodes", count > 3 ? words[3] : "1");
        MPI_Info_set(info, "cb_buffer_size", "4194304");
        H5Pset_alignment(access, 512, 1024);
    }
    // That one ROMIO does not compare between ranks.
    const bool on_one = count > 2 && std::strcmp(words[2], "one") == 0 && rank == 1;
    if (on_one) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "access_style", "sequential");
    }
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info);
    if (own || on_one) MPI_Info_free(&info);

    const hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0) return 1;
    print_file(file);
    const hsize_t dims[2] = {rows_of_rank * static_cast<hsize_t>(ranks), columns};
    const hsize_t chunk[2] = {rows_of_rank, columns};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(packed, 2, chunk);
    H5Pset_deflate(packed, 1);
    const hid_t plain =
        H5Dcreate2(file, "plain", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t small =
        H5Dcreate2(file, "packed", H5T_NATIVE_INT, space, H5P_DEFAULT, packed, H5P_DEFAULT);
    print_chunk("plain", plain);
    print_chunk("packed", small);
    bool good = write_rows(plain, H5P_DEFAULT) >= 0;
    // Compressed datasets can only be written together: this tells whether the write was
    // collective.
    H5E_auto2_t print = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const bool together = write_rows(small, H5P_DEFAULT) >= 0;
    if (!together) {
        const hid_t list = H5Pcreate(H5P_DATASET_XFER);
        H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
        good = write_rows(small, list) >= 0 && good;
        H5Pclose(list);
    }
    H5Eset_auto2(H5E_DEFAULT, print, data);
    if (rank == 0) std::printf("default transfers are %s\n", together ? "collective" : "alone");
    H5Dclose(plain);
    H5Dclose(small);
    H5Pclose(packed);
    H5Sclose(space);
    H5Fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);

    const hid_t again = H5Fopen(words[1], H5F_ACC_RDONLY, access);
    for (const char* name : {"plain", "packed"}) {
        const hid_t dataset = H5Dopen2(again, name, H5P_DEFAULT);
        good = right(dataset) && good;
        H5Dclose(dataset);
    }
    H5Fclose(again);
    H5Pclose(access);
    int all = good ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("content %s\n", all != 0 ? "right" : "wrong");
    MPI_Finalize();
    return all != 0 ? 0 : 1;
}
