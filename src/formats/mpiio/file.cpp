// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "formats/file/part_file.hpp"
#include "formats/mpiio/stale_semaphore.hpp"

namespace tailrace::formats::mpiio {

using core::Code;
using core::Error;

namespace {

constexpr const char* look_at_space = "check the free space, the quota and the file system's log";
constexpr const char* look_at_hints =
    "check the hints that were given (without them?), the permissions and the file system's log";

Error mpi_error(int code, const std::string& what, const std::filesystem::path& name,
                const char* remedy = look_at_space) {
    int error_class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &error_class);
    const bool full = error_class == MPI_ERR_NO_SPACE || error_class == MPI_ERR_QUOTA;
    return Error(full ? Code::no_space : Code::io, what + ": " + comm::error_text(code),
                 name.string(),
                 full ? "free space there, or write to another file system" : remedy);
}

}  // namespace

/// What this rank does in one round; nothing by default.
struct File::Round {
    std::uint64_t bytes = 0;
    FileShape file;
    MemoryShape memory;
    bool view = false;  ///< on all ranks or on none
};

File::Round File::round_of(std::span<const Portion> portions, bool view) {
    Round round;
    round.view = view;
    for (const Portion& portion : portions) round.bytes += portion.bytes;
    const Portion& first = portions.front();
    if (portions.size() > 1) {
        UnitedShape shape = united_shape(portions);
        round.file = std::move(shape.file);
        round.memory = std::move(shape.memory);
        return round;
    }
    round.memory = memory_shape(first);
    round.file.begin = first.file_begin;
    if (view) round.file = file_shape(first);
    return round;
}

File::File(const comm::Comm& comm, const std::filesystem::path& path,
           const std::filesystem::path& name, Access access, const Hints& hints)
    : x_name(name), x_access(access) {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (!initialised)
        throw Error(Code::unsupported, "MPI-IO without MPI_Init", name.string(),
                    "initialise MPI first, or use format posix");
    std::optional<Info> info;
    // OMPIO hangs in MPI_File_open where the file opens on some ranks only: tried here first.
    comm.agree_on([&] {
        remove_stale_semaphore(path);
        info.emplace(hints);
        const Descriptor fd(open_file(path, access == Access::write ? O_RDWR : O_RDONLY));
        if (!fd.open()) throw system_error(errno, "cannot open the file", path);
    });
    const int mode = access == Access::write ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    int code =
        MPI_File_open(comm::native(comm), name_for_open(path).c_str(), mode, info->get(), &x_file);
    const bool colon = path.string().find(':') != std::string::npos;
    if (colon && comm.min(std::uint64_t{code != MPI_SUCCESS ? 1u : 0u}) == 1)
        code = MPI_File_open(comm::native(comm), with_file_system_prefix(path).c_str(), mode,
                             info->get(), &x_file);
    std::optional<Error> mine;
    if (code != MPI_SUCCESS) mine = mpi_error(code, "MPI_File_open failed", path, look_at_hints);
    comm.agree(mine);
    MPI_File_set_errhandler(x_file, MPI_ERRORS_RETURN);
}

std::string File::doing() const {
    return x_access == Access::write ? "writing through MPI-IO" : "reading through MPI-IO";
}

void File::set_view(const Round& round) {
    if (!round.view && x_default_view) return;
    x_default_view = !round.view;
    const int code =
        MPI_File_set_view(x_file, round.view ? static_cast<MPI_Offset>(round.file.begin) : 0,
                          MPI_BYTE, round.file.type.get(), "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS) throw mpi_error(code, "MPI_File_set_view failed", x_name);
}

void File::move(const Round& round, bool collective) {
    MPI_Status status;
    void* data = round.memory.begin;
    int code = MPI_SUCCESS;
    const MPI_Offset at = round.view ? 0 : static_cast<MPI_Offset>(round.file.begin);
    const int count = round.memory.count;
    MPI_Datatype type = round.memory.type.get();
    if (x_access == Access::write)
        code = collective ? MPI_File_write_at_all(x_file, at, data, count, type, &status)
                          : MPI_File_write_at(x_file, at, data, count, type, &status);
    else
        code = collective ? MPI_File_read_at_all(x_file, at, data, count, type, &status)
                          : MPI_File_read_at(x_file, at, data, count, type, &status);
    if (code != MPI_SUCCESS)
        throw mpi_error(code, doing() + " failed, " + std::to_string(round.bytes) + " bytes asked",
                        x_name);
    if (round.bytes == 0) return;
    // OMPIO takes a short transfer for a complete one and says so only here.
    MPI_Count moved = 0;
    if (MPI_Get_elements_x(&status, type, &moved) != MPI_SUCCESS || moved == MPI_UNDEFINED) return;
    if (static_cast<std::uint64_t>(moved) != round.bytes)
        throw Error(Code::data_lost,
                    doing() + " fell short: " + std::to_string(round.bytes) + " bytes asked, " +
                        std::to_string(moved) + " done",
                    x_name.string(), look_at_space);
}

std::optional<Error> File::transfer(const Portions& portions, std::uint64_t rounds, bool views,
                                    bool collective) {
    const comm::ErrorsReturn guard;
    std::optional<Error> failure;
    std::span<const Portion> left(portions.list);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        Round round;
        round.view = views;
        // After a failure this rank stays in step with nothing in its hands.
        if (!failure && r < portions.calls.size()) {
            const auto now = left.first(portions.calls[r]);
            left = left.subspan(now.size());
            failure = comm::Comm::caught([&] { round = round_of(now, views); });
        }
        for (const auto& step : {std::optional<Error>(comm::Comm::caught([&] { set_view(round); })),
                                 comm::Comm::caught([&] { move(round, collective); })})
            if (step && !failure) failure = step;
    }
    return failure;
}

std::optional<Error> File::close() noexcept {
    const int code = MPI_File_close(&x_file);
    if (code == MPI_SUCCESS) return std::nullopt;
    return mpi_error(code, "MPI_File_close failed", x_name);
}

}  // namespace tailrace::formats::mpiio
