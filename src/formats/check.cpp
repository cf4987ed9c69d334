// SPDX-License-Identifier: Apache-2.0
#include "formats/check.hpp"

#include <fcntl.h>

#include "formats/file/name_lock.hpp"
#include "formats/file/part_file.hpp"
#include "formats/missing.hpp"
#include "formats/posix/parts.hpp"
#ifdef TAILRACE_HAVE_HDF5
#include "formats/hdf5/open.hpp"
#endif
#ifdef TAILRACE_HAVE_NETCDF
#include "formats/netcdf4/open.hpp"
#endif
#include "formats/pnetcdf/limits.hpp"
#ifdef TAILRACE_HAVE_PNETCDF
#include "formats/pnetcdf/open.hpp"
#endif

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;

namespace {

/// What a run does before it makes its first file.
LeftOver check_place(const fs::path& path, const core::Target& target, core::Publish publish) {
    check_target(path, target.existing);
    const LeftOver left_over = NameLock::look(path);
    check_beside(path, publish, left_over);
    const Descriptor folder(open_file(folder_of(path), O_RDONLY | O_DIRECTORY));
    if (folder.open())
        check_space(folder.get(), target.reserve_bytes, path, Code::no_space_reserved);
    return left_over;
}

struct Check {
    const core::Target& target;
    const fs::path& path;
    int ranks;

    void operator()(const posix::Options& options) const {
        const LeftOver left_over = check_place(path, target, target.publish);
        if (!options.file_per_rank) return;
        posix::check_per_rank(options, path);
        posix::check_parts_beside(path);
        const posix::PartNames names = posix::part_names_for(path);
        for (int rank = 0; rank < ranks; ++rank)
            posix::check_part(posix::part_of_rank(path, rank, names), target.existing, left_over);
    }
    void operator()([[maybe_unused]] const mpiio::Options& options) const {
#ifdef TAILRACE_HAVE_MPI
        (void)check_place(path, target, target.publish);
#else
        throw no_mpi(path);
#endif
    }
    void operator()([[maybe_unused]] const hdf5::Options& options) const {
#ifdef TAILRACE_HAVE_HDF5
        hdf5::check(options, ranks);
        (void)check_place(path, target, hdf5::publish_of(options, target.publish));
#else
        throw no_hdf5(path);
#endif
    }
    void operator()([[maybe_unused]] const netcdf4::Options& options) const {
#ifdef TAILRACE_HAVE_NETCDF
        netcdf4::check_path(path);
        netcdf4::check(options, ranks);
        (void)check_place(path, target, target.publish);
#else
        throw no_netcdf(path);
#endif
    }
    void operator()([[maybe_unused]] const pnetcdf::Options& options) const {
#ifdef TAILRACE_HAVE_PNETCDF
        pnetcdf::check(options);
        (void)check_place(path, target, target.publish);
#else
        throw no_pnetcdf(path);
#endif
    }
};

}  // namespace

void check_sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                int ranks) {
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        const fs::path path = follow_links(target.path);
        std::visit(Check{target, path, ranks}, options);
    });
}

void check_schema(const Options& options, const core::Schema& schema) {
    if (const auto* pnetcdf = std::get_if<pnetcdf::Options>(&options))
        pnetcdf::check_schema(*pnetcdf, pnetcdf::as_stored(*pnetcdf, schema));
#ifdef TAILRACE_HAVE_NETCDF
    if (const auto* netcdf4 = std::get_if<netcdf4::Options>(&options))
        netcdf4::check_schema(*netcdf4, schema);
#endif
}

}  // namespace tailrace::formats
