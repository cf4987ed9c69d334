// SPDX-License-Identifier: Apache-2.0
#include "formats/check.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "formats/part_file.hpp"
#include "formats/raw/description.hpp"
#ifdef TAILRACE_HAVE_HDF5
#include "formats/hdf5/open.hpp"
#endif

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

fs::path with_suffix(fs::path path, const char* suffix) {
    path += suffix;
    return path;
}

/// The lock is only tried, and given back at once.
void check_lock(const fs::path& lock, const fs::path& part) {
    const Descriptor fd(open_file(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.open() && errno == ENOENT) return;
    if (!fd.open()) throw system_error(errno, "cannot open " + lock.string(), part);
    if (::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw Error(Code::already_exists, "another run is writing it now", part.string(),
                    "wait for that run, or choose another file name");
}

Error taken(const fs::path& name) {
    return Error(Code::already_exists,
                 "something that no run of ours has left has a name that the run needs",
                 name.string(), "move it away, or choose another file name");
}

/// What a killed run has left has its lock beside it, and is replaced.
void check_part(const fs::path& part, const fs::path& lock) {
    struct stat info {};
    const bool locked = ::lstat(lock.c_str(), &info) == 0;
    if (locked && !S_ISREG(info.st_mode)) throw taken(lock);
    if (locked) check_lock(lock, part);
    if (::lstat(part.c_str(), &info) != 0) return;
    if (!locked || !S_ISREG(info.st_mode)) throw taken(part);
}

void check_place(const fs::path& path, const core::Target& target) {
    check_target(path, target.existing);
    const fs::path part = with_suffix(path, ".part");
    check_part(part, with_suffix(part, ".lock"));
    const Descriptor folder(open_file(folder_of(path), O_RDONLY | O_DIRECTORY));
    if (folder.open())
        check_space(folder.get(), target.reserve_bytes, path, Code::no_space_reserved);
}

struct CheckOptions {
    const core::Target& target;
    const fs::path& path;
    int ranks;

    void operator()(const posix::Options& options) const {
        if (!options.file_per_rank) return;
        const fs::path lock = with_suffix(path, ".part.lock");
        for (int rank = 0; rank < ranks; ++rank) {
            const fs::path part = folder_of(path) / raw::part_name(path.filename().string(), rank);
            check_target(part, target.existing);
            check_part(with_suffix(part, ".part"), lock);
        }
    }
    void operator()([[maybe_unused]] const mpiio::Options& options) const {
#ifndef TAILRACE_HAVE_MPI
        throw Error(Code::unsupported, "this build has no format mpiio: MPI was not found",
                    path.string(), "install MPI and build again, or use format posix");
#endif
    }
    void operator()([[maybe_unused]] const hdf5::Options& options) const {
#ifdef TAILRACE_HAVE_HDF5
        hdf5::check(options, ranks);
#else
        throw Error(Code::unsupported, "this build has no format hdf5: parallel HDF5 was not found",
                    path.string(),
                    "run `make setup` (it builds HDF5) and build again, or use format posix");
#endif
    }
};

}  // namespace

void check_sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                int ranks) {
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        const fs::path path = follow_links(target.path);
        std::visit(CheckOptions{target, path, ranks}, options);
        check_place(path, target);
    });
}

}  // namespace tailrace::formats
