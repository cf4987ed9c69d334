// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/info.hpp"

#include <sys/statfs.h>

#include <array>
#include <vector>

#include "comm/mpi_io.hpp"
#include "core/mpi_hints.hpp"

namespace tailrace::formats::mpiio {

using comm::check;

bool mpi_running() {
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started != 0 && ended == 0;
}

Info::Info(const Hints& hints) {
    if (hints.empty()) return;
    for (const auto& [key, value] : hints)
        if (const std::string why = comm::why_no_hint(key, value); !why.empty())
            throw core::Error(core::Code::bad_input, "hint " + key + " cannot be set: " + why,
                              "hint", "this MPI takes " + comm::hint_limits());
    const comm::ErrorsReturn guard;
    check(MPI_Info_create(&x_info), "MPI_Info_create");
    for (const auto& [key, value] : hints) {
        const int code = MPI_Info_set(x_info, key.c_str(), value.c_str());
        if (code == MPI_SUCCESS) continue;
        MPI_Info_free(&x_info);
        throw core::Error(core::Code::bad_input,
                          "MPI takes no hint " + key + "=" + value + ": " + comm::error_text(code),
                          "hint", "see the documentation of your MPI for its hints");
    }
}

Info::~Info() {
    if (x_info != MPI_INFO_NULL) MPI_Info_free(&x_info);
}

Hints with_safe_defaults(Hints hints) {
    hints.try_emplace("romio_ds_write", "disable");
    return hints;
}

Hints in_force_of(MPI_Info info) {
    Hints entries;
    if (info == MPI_INFO_NULL) return entries;
    const comm::ErrorsReturn guard;
    int keys = 0;
    check(MPI_Info_get_nkeys(info, &keys), "MPI_Info_get_nkeys");
    for (int k = 0; k < keys; ++k) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        check(MPI_Info_get_nthkey(info, k, key.data()), "MPI_Info_get_nthkey");
        int length = 0;
        int there = 0;
        check(MPI_Info_get_valuelen(info, key.data(), &length, &there), "MPI_Info_get_valuelen");
        if (!there) continue;
        std::vector<char> value(static_cast<std::size_t>(length) + 1);
        check(MPI_Info_get(info, key.data(), length, value.data(), &there), "MPI_Info_get");
        if (there) entries[key.data()] = value.data();
    }
    if (comm::mpi_io_implementation().starts_with("OMPIO"))
        std::erase_if(entries,
                      [](const auto& one) { return core::only_romio_reads(one.first.c_str()); });
    return entries;
}

Hints hints_in_force(MPI_File file) {
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_File_get_info(file, &info), "MPI_File_get_info");
    Hints hints = in_force_of(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return hints;
}

// Hints would not do: Open MPI's ROMIO tells only what was given.
std::string mpi_io_name(const Hints& /*in_force*/, const Hints& /*given*/) {
    return comm::mpi_io_implementation();
}

std::string name_for_open(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.string() : "./" + path.string();
}

std::string with_file_system_prefix(const std::filesystem::path& path) {
    constexpr long nfs = 0x6969;
    constexpr long lustre = 0x0BD00BD0;
    struct statfs info {};
    const long type = ::statfs(path.c_str(), &info) == 0 ? static_cast<long>(info.f_type) : 0;
    return (type == nfs ? "nfs:" : type == lustre ? "lustre:" : "ufs:") + path.string();
}

}  // namespace tailrace::formats::mpiio
