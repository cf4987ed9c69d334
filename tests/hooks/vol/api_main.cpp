// SPDX-License-Identifier: Apache-2.0
// vol_api FOLDER [mpi]: all checks, in FOLDER; the lines of rank r go to FOLDER/lines.r
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "api.hpp"

namespace api {
namespace {

herr_t innermost(unsigned, const H5E_error2_t* error, void* to) {
    char major[128] = {};
    char minor[128] = {};
    H5E_type_t type{};
    H5Eget_msg(error->maj_num, &type, major, sizeof major);
    H5Eget_msg(error->min_num, &type, minor, sizeof minor);
    *static_cast<std::string*>(to) = std::string(major) + " / " + minor;
    return 0;
}

/// Who handles each signal.
std::vector<void (*)(int)> handlers() {
    std::vector<void (*)(int)> found;
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction now = {};
        found.push_back(sigaction(number, nullptr, &now) == 0 ? now.sa_handler : nullptr);
    }
    return found;
}

}  // namespace

std::string last_error() {
    std::string found = "none";
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned n, const H5E_error2_t* error, void* to) {
            return n == 0 ? innermost(n, error, to) : 0;
        },
        &found);
    return found;
}

hid_t id(const char* name, hid_t value) {
    text(name, value >= 0 ? "good" : "bad: " + last_error());
    return value;
}

long long hash(const void* data, std::size_t bytes) {
    unsigned long long value = 1469598103934665603ULL;
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t n = 0; n < bytes; ++n) value = (value ^ at[n]) * 1099511628211ULL;
    return static_cast<long long>(value >> 1);
}

hid_t dataset_list() {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(list, false);
    return list;
}

hid_t group_list() {
    const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(list, false);
    return list;
}

hid_t space(std::vector<hsize_t> dims, std::vector<hsize_t> largest) {
    return H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                            largest.empty() ? nullptr : largest.data());
}

}  // namespace api

int main(int count, char** words) {
    if (count < 2 || chdir(words[1]) != 0) return 2;
    int rank = 0;
    const bool parallel = count > 2 && std::strcmp(words[2], "mpi") == 0;
    if (parallel) {
        MPI_Init(&count, &words);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    const auto before = api::handlers();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // HDF5 begins here, and loads its connectors
    api::context.out = std::fopen(("lines." + std::to_string(rank)).c_str(), "w");
    api::context.parallel = parallel;
    api::context.rank = rank;
    api::context.access = H5Pcreate(H5P_FILE_ACCESS);
    api::context.transfer = H5Pcreate(H5P_DATASET_XFER);
    api::context.creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(api::context.creation, false);
    H5Pset_libver_bounds(api::context.access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    if (parallel) {
        H5Pset_fapl_mpio(api::context.access, MPI_COMM_WORLD, MPI_INFO_NULL);
        H5Pset_dxpl_mpio(api::context.transfer, H5FD_MPIO_COLLECTIVE);
    }
    api::files();
    api::groups_and_links();
    api::objects();
    api::datasets();
    api::selections();
    api::attributes();
    api::types_and_references();
    api::others();
    api::optional();
    api::names_and_indexes();
    api::deprecated();
    api::errors();
    api::older_handlers();
    H5Pclose(api::context.access);
    H5Pclose(api::context.transfer);
    H5Pclose(api::context.creation);
    api::line{"left open", H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL)};
    api::line{"signals are handled as before", api::handlers() == before};
    if (H5close() < 0) return 1;
    std::fclose(api::context.out);
    if (parallel) MPI_Finalize();
    std::puts("done");
    return 0;
}
