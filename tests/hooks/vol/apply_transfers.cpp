// SPDX-License-Identifier: Apache-2.0
// vol_apply_transfers FILE [own|hints]: all ranks create a file together and write and read their
// rows of datasets with the library's default transfer list, one by one and two in one call. Rank 0
// prints what is in force of the file, and for each transfer how many calls of MPI-IO it made:
// "together" are collective ones. "own": the program sets the metadata to be read together itself.
// "hints": it prints the hints in force and moves nothing.
#include <hdf5.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr hsize_t rows_of_rank = 8;
constexpr hsize_t columns = 32;
constexpr std::array names{"linked", "several", "alone", "plain", "each", "half"};
int rank = 0;
int ranks = 0;
int together = 0;
int by_itself = 0;

}  // namespace

// The library calls these, as it finds a program's own before those of MPI.
extern "C" {
int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
    ++together;
    return PMPI_File_write_at_all(file, offset, data, count, type, status);
}
int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count,
                      MPI_Datatype type, MPI_Status* status) {
    ++by_itself;
    return PMPI_File_write_at(file, offset, data, count, type, status);
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                         MPI_Status* status) {
    ++together;
    return PMPI_File_read_at_all(file, offset, data, count, type, status);
}
int MPI_File_read_at(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                     MPI_Status* status) {
    ++by_itself;
    return PMPI_File_read_at(file, offset, data, count, type, status);
}
}

namespace {

/// This rank's rows in a file, and as they lie in memory.
struct Rows {
    hid_t file;
    hid_t memory;
};

Rows rows() {
    const std::array<hsize_t, 2> dims{rows_of_rank * static_cast<hsize_t>(ranks), columns};
    const std::array<hsize_t, 2> mine{rows_of_rank, columns};
    const std::array<hsize_t, 2> start{rows_of_rank * static_cast<hsize_t>(rank), 0};
    const Rows made{H5Screate_simple(2, dims.data(), nullptr),
                    H5Screate_simple(2, mine.data(), nullptr)};
    H5Sselect_hyperslab(made.file, H5S_SELECT_SET, start.data(), nullptr, mine.data(), nullptr);
    return made;
}

std::vector<int> values_of(std::size_t number) {
    std::vector<int> values(rows_of_rank * columns);
    for (std::size_t at = 0; at < values.size(); ++at)
        values[at] = static_cast<int>(number * 100000 + at) + rank * 1000;
    return values;
}

/// Runs one transfer and prints what it did.
template <typename Transfer>
bool counted(const std::string& what, Transfer&& transfer) {
    together = by_itself = 0;
    const bool good = transfer() >= 0;
    if (rank == 0) std::printf("%s: %d together, %d alone\n", what.c_str(), together, by_itself);
    return good;
}

hid_t create(hid_t file, const char* name, bool in_chunks) {
    const std::array<hsize_t, 2> dims{rows_of_rank * static_cast<hsize_t>(ranks), columns};
    const std::array<hsize_t, 2> chunk{2, columns};
    const hid_t space = H5Screate_simple(2, dims.data(), nullptr);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (in_chunks) H5Pset_chunk(list, 2, chunk.data());
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

bool one_by_one(hid_t dataset, std::size_t number, const Rows& mine) {
    const std::string name = names.at(number);
    const std::vector<int> values = values_of(number);
    std::vector<int> back(values.size());
    bool good = counted(name + " written", [&] {
        return H5Dwrite(dataset, H5T_NATIVE_INT, mine.memory, mine.file, H5P_DEFAULT,
                        values.data());
    });
    good = counted(name + " read",
                   [&] {
                       return H5Dread(dataset, H5T_NATIVE_INT, mine.memory, mine.file, H5P_DEFAULT,
                                      back.data());
                   }) &&
           good;
    return good && back == values;
}

/// With a list of the program's own, which asks for an operation per chunk.
bool with_own_list(hid_t dataset, const Rows& mine) {
    const hid_t list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio_chunk_opt(list, H5FD_MPIO_CHUNK_MULTI_IO);
    H5Pset_selection_io(list, H5D_SELECTION_IO_MODE_OFF);
    const std::vector<int> values = values_of(9);
    const bool good = counted("own list written", [&] {
        return H5Dwrite(dataset, H5T_NATIVE_INT, mine.memory, mine.file, list, values.data());
    });
    H5Pclose(list);
    return good;
}

/// Two datasets in one call.
bool both(const std::string& what, std::array<hid_t, 2> datasets, const Rows& mine) {
    std::array<hid_t, 2> types{H5T_NATIVE_INT, H5T_NATIVE_INT};
    std::array<hid_t, 2> memory{mine.memory, mine.memory};
    std::array<hid_t, 2> file{mine.file, mine.file};
    const std::array<std::vector<int>, 2> values{values_of(7), values_of(8)};
    std::array<const void*, 2> from{values[0].data(), values[1].data()};
    std::array<std::vector<int>, 2> back{values[1], values[0]};
    std::array<void*, 2> to{back[0].data(), back[1].data()};
    bool good = counted(what + " written", [&] {
        return H5Dwrite_multi(2, datasets.data(), types.data(), memory.data(), file.data(),
                              H5P_DEFAULT, from.data());
    });
    good = counted(what + " read",
                   [&] {
                       return H5Dread_multi(2, datasets.data(), types.data(), memory.data(),
                                            file.data(), H5P_DEFAULT, to.data());
                   }) &&
           good;
    return good && back == values;
}

void print_file(hid_t file) {
    const hid_t list = H5Fget_access_plist(file);
    hbool_t reads = false;
    hbool_t writes = false;
    H5Pget_all_coll_metadata_ops(list, &reads);
    H5Pget_coll_metadata_write(list, &writes);
    if (rank == 0)
        std::printf("metadata together: read %d, written %d\n", reads ? 1 : 0, writes ? 1 : 0);
    H5Pclose(list);
}

void print_hints(hid_t file) {
    const hid_t list = H5Fget_access_plist(file);
    void* handle = nullptr;
    H5Fget_vfd_handle(file, list, &handle);
    MPI_Info info = MPI_INFO_NULL;
    MPI_File_get_info(*static_cast<MPI_File*>(handle), &info);
    int hints = 0;
    MPI_Info_get_nkeys(info, &hints);
    for (int number = 0; number < hints; ++number) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, 1024> value{};
        int there = 0;
        MPI_Info_get_nthkey(info, number, key.data());
        MPI_Info_get(info, key.data(), static_cast<int>(value.size()) - 1, value.data(), &there);
        if (rank == 0) std::printf("hint.%s: %s\n", key.data(), value.data());
    }
    MPI_Info_free(&info);
    H5Pclose(list);
}

bool transfer_all(hid_t file) {
    const Rows mine = rows();
    std::vector<hid_t> datasets;
    for (std::size_t number = 0; number < names.size(); ++number)
        datasets.push_back(create(file, names.at(number), number != 3));
    bool good = true;
    for (std::size_t number = 0; number < names.size(); ++number)
        good = one_by_one(datasets[number], number, mine) && good;
    good = one_by_one(datasets[3], 3, mine) && good;
    good = with_own_list(datasets[0], mine) && good;
    good = both("linked and alone", {datasets[0], datasets[2]}, mine) && good;
    const hid_t like = create(file, "linked too", true);
    good = both("linked twice", {datasets[0], like}, mine) && good;
    H5Dclose(like);
    for (const hid_t dataset : datasets) H5Dclose(dataset);
    H5Sclose(mine.file);
    H5Sclose(mine.memory);
    return good;
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    if (count < 2) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const std::string mode = count > 2 ? words[2] : "";
    if (mode == "own") H5Pset_all_coll_metadata_ops(access, true);
    const hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0) return 1;
    print_file(file);
    if (mode == "hints") print_hints(file);
    int all = mode == "hints" || transfer_all(file) ? 1 : 0;
    H5Fclose(file);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("content %s\n", all != 0 ? "right" : "wrong");
    MPI_Finalize();
    return all != 0 ? 0 : 1;
}
