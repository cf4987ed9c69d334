// SPDX-License-Identifier: Apache-2.0
// vol_subfiles FILE THREADS [read|own|atomic|oldest]: all ranks create a file together through
// MPI-IO, each writes its part of a dataset; the file is opened again and every element checked.
// "read": only that. "own": the program asks for the subfiling driver itself. "atomic": and for
// MPI's atomicity, once the file is open; it prints whether it got it. "oldest": in the format that
// is the default of HDF5 1.14. THREADS: "multiple" or "single", what MPI is asked for.
#include <hdf5.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr hsize_t of_rank = 300000;
int rank = 0;
int ranks = 0;

struct Part {
    hid_t file, memory;
};

Part part() {
    const hsize_t all = of_rank * static_cast<hsize_t>(ranks);
    const hsize_t start = of_rank * static_cast<hsize_t>(rank);
    const Part made{H5Screate_simple(1, &all, nullptr), H5Screate_simple(1, &of_rank, nullptr)};
    H5Sselect_hyperslab(made.file, H5S_SELECT_SET, &start, nullptr, &of_rank, nullptr);
    return made;
}

void forget(const Part& made) {
    H5Sclose(made.file);
    H5Sclose(made.memory);
}

int value_at(hsize_t at) {
    return static_cast<int>((static_cast<hsize_t>(rank) * of_rank + at) * 3 + 1);
}

const char* driver_of(hid_t file) {
    const hid_t list = H5Fget_access_plist(file);
    const hid_t driver = H5Pget_driver(list);
    H5Pclose(list);
#ifdef H5_HAVE_SUBFILING_VFD
    if (driver == H5FD_SUBFILING) return "subfiling";
#endif
    return driver == H5FD_MPIO ? "mpio" : "other";
}

bool write(const char* name, hid_t access) {
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0) return false;
    const char* driver = driver_of(file);  // collective
    if (rank == 0) std::printf("created with %s\n", driver);
    const Part mine = part();
    const hid_t data =
        H5Dcreate2(file, "x", H5T_NATIVE_INT, mine.file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    std::vector<int> values(of_rank);
    for (hsize_t at = 0; at < of_rank; ++at) values[at] = value_at(at);
    const bool good =
        H5Dwrite(data, H5T_NATIVE_INT, mine.memory, mine.file, H5P_DEFAULT, values.data()) >= 0;
    forget(mine);
    return H5Dclose(data) >= 0 && H5Fclose(file) >= 0 && good;
}

bool read(const char* name, hid_t access) {
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, access);
    if (file < 0) return false;
    const char* driver = driver_of(file);  // collective
    if (rank == 0) std::printf("opened with %s\n", driver);
    const Part mine = part();
    const hid_t data = H5Dopen2(file, "x", H5P_DEFAULT);
    std::vector<int> values(of_rank);
    bool good =
        H5Dread(data, H5T_NATIVE_INT, mine.memory, mine.file, H5P_DEFAULT, values.data()) >= 0;
    for (hsize_t at = 0; at < of_rank; ++at) good = good && values[at] == value_at(at);
    forget(mine);
    return H5Dclose(data) >= 0 && H5Fclose(file) >= 0 && good;
}

/// What MPI-IO has and the driver for subfiles has not.
bool ask_for_atomicity(const char* name, hid_t access) {
    const hid_t file = H5Fopen(name, H5F_ACC_RDWR, access);
    if (file < 0) return false;
    hbool_t atomic = 0;
    H5E_BEGIN_TRY {
        const bool set = H5Fset_mpi_atomicity(file, 1) >= 0;
        const bool got = H5Fget_mpi_atomicity(file, &atomic) >= 0 && atomic != 0;
        if (rank == 0) std::printf("atomicity %s\n", set && got ? "with it" : "not with it");
    }
    H5E_END_TRY
    return H5Fclose(file) >= 0;
}

hid_t list_with(bool subfiling) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
#ifdef H5_HAVE_SUBFILING_VFD
    if (subfiling) {
        MPI_Info info = MPI_INFO_NULL;  // HDF5 2.2.0 cannot give back a list with none
        MPI_Info_create(&info);
        H5Pset_mpi_params(access, MPI_COMM_WORLD, info);
        H5Pset_fapl_subfiling(access, nullptr);
        MPI_Info_free(&info);
    }
#endif
    return access;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    int level = 0;
    const bool multiple = std::strcmp(words[2], "multiple") == 0;
    MPI_Init_thread(&count, &words, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* what = count > 3 ? words[3] : "";
    const hid_t access = list_with(std::strcmp(what, "own") == 0);
    if (std::strcmp(what, "oldest") == 0)
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    int good = std::strcmp(what, "read") == 0 || write(words[1], access) ? 1 : 0;
    if (std::strcmp(what, "atomic") == 0 && !ask_for_atomicity(words[1], access)) good = 0;
    good = good != 0 && read(words[1], access) ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s\n", all != 0 ? "content right" : "content WRONG");
    H5Pclose(access);
    MPI_Finalize();
    return all != 0 ? 0 : 1;
}
