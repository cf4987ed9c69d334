// SPDX-License-Identifier: Apache-2.0
#include "formats/open.hpp"

#include "formats/file/names.hpp"
#include "formats/missing.hpp"
#include "formats/posix/per_rank.hpp"
#include "formats/posix/shared.hpp"
#include "formats/posix/source.hpp"
#ifdef TAILRACE_HAVE_MPI
#include "formats/mpiio/sink.hpp"
#endif
#ifdef TAILRACE_HAVE_HDF5
#include "formats/hdf5/open.hpp"
#endif
#ifdef TAILRACE_HAVE_NETCDF
#include "formats/netcdf4/open.hpp"
#endif
#ifdef TAILRACE_HAVE_PNETCDF
#include "formats/pnetcdf/open.hpp"
#endif

namespace tailrace::formats {

namespace {

struct OpenSink {
    const comm::Comm& comm;
    const core::Target& target;
    core::Phases& phases;

    std::unique_ptr<core::Sink> operator()(const posix::Options& options) const {
        if (options.file_per_rank)
            return std::make_unique<posix::PerRankSink>(comm, target, options, phases);
        return std::make_unique<posix::SharedSink>(comm, target, options, phases);
    }
    std::unique_ptr<core::Sink> operator()([[maybe_unused]] const mpiio::Options& options) const {
#ifdef TAILRACE_HAVE_MPI
        return std::make_unique<mpiio::Sink>(comm, target, options, phases);
#else
        throw no_mpi(target.path);
#endif
    }
    std::unique_ptr<core::Sink> operator()([[maybe_unused]] const hdf5::Options& options) const {
#ifdef TAILRACE_HAVE_HDF5
        return hdf5::open_sink(comm, target, options, phases);
#else
        throw no_hdf5(target.path);
#endif
    }
    std::unique_ptr<core::Sink> operator()([[maybe_unused]] const netcdf4::Options& options) const {
#ifdef TAILRACE_HAVE_NETCDF
        return netcdf4::open_sink(comm, target, options, phases);
#else
        throw no_netcdf(target.path);
#endif
    }
    std::unique_ptr<core::Sink> operator()([[maybe_unused]] const pnetcdf::Options& options) const {
#ifdef TAILRACE_HAVE_PNETCDF
        return pnetcdf::open_sink(comm, target, options, phases);
#else
        throw no_pnetcdf(target.path);
#endif
    }
};

struct OpenSource {
    const comm::Comm& comm;
    const std::filesystem::path& path;
    core::Phases& phases;

    std::unique_ptr<core::Source> operator()(const posix::Options&) const {
        return posix::open_raw_source(comm, path, phases);
    }
    std::unique_ptr<core::Source> operator()([[maybe_unused]] const mpiio::Options& options) const {
#ifdef TAILRACE_HAVE_MPI
        return mpiio::open_source(comm, path, options, phases);
#else
        throw no_mpi(path);
#endif
    }
    std::unique_ptr<core::Source> operator()([[maybe_unused]] const hdf5::Options& options) const {
#ifdef TAILRACE_HAVE_HDF5
        return hdf5::open_source(comm, path, options, phases);
#else
        throw no_hdf5(path);
#endif
    }
    std::unique_ptr<core::Source> operator()(
        [[maybe_unused]] const netcdf4::Options& options) const {
#ifdef TAILRACE_HAVE_NETCDF
        return netcdf4::open_source(comm, path, options, phases);
#else
        throw no_netcdf(path);
#endif
    }
    std::unique_ptr<core::Source> operator()(
        [[maybe_unused]] const pnetcdf::Options& options) const {
#ifdef TAILRACE_HAVE_PNETCDF
        return pnetcdf::open_source(comm, path, options, phases);
#else
        throw no_pnetcdf(path);
#endif
    }
};

}  // namespace

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return std::visit(OpenSink{comm, target, phases}, options);
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    // What belongs to a file lies beside it, and not beside a link to it.
    std::filesystem::path file;
    comm.agree_on([&] { file = follow_links(path); });
    return std::visit(OpenSource{comm, file, phases}, options);
}

}  // namespace tailrace::formats
