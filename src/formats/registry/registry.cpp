// SPDX-License-Identifier: Apache-2.0
#include "formats/registry/registry.hpp"

#include <algorithm>

#include "formats/posix/parts.hpp"
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
#include "formats/pnetcdf/limits.hpp"
#ifdef TAILRACE_HAVE_PNETCDF
#include "formats/pnetcdf/open.hpp"
#endif
#include "formats/keys.hpp"

namespace tailrace::formats {

namespace {

using core::Code;
using core::Error;

Format hdf5_row() {
    return {.names = {"hdf5"},
            .missing = "parallel HDF5",
            .remedy = "run `make setup` (it builds HDF5) and build again, or use format posix",
            .register_keys = hdf5::register_keys,
            .parse = hdf5::options_from,
            .settle = hdf5::settle,
#ifdef TAILRACE_HAVE_HDF5
            .check = [](const Planned& file,
                        const hdf5::Options& own) { hdf5::check(own, file.ranks); },
            .open_sink = hdf5::open_sink,
            .open_source = hdf5::open_source,
            .begin = hdf5::begin,
            .before_end = hdf5::before_end
#endif
    };
}

Format netcdf4_row() {
    return {.names = {"netcdf4"},
            .missing = "netCDF-C with parallel I/O",
            .remedy = "run `make setup` (it builds netCDF-C) and build again, or use format hdf5",
            .register_keys = netcdf4::register_keys,
            .parse = netcdf4::options_from,
#ifdef TAILRACE_HAVE_NETCDF
            .check =
                [](const Planned& file, const netcdf4::Options& own) {
                    netcdf4::check_path(file.path);
                    netcdf4::check(own, file.ranks);
                },
            .check_schema = netcdf4::check_schema,
            .open_sink = netcdf4::open_sink,
            .open_source = netcdf4::open_source
#endif
    };
}

Format mpiio_row() {
    return {.names = {"mpiio"},
            .missing = "MPI",
            .remedy = "install MPI and build again, or use format posix",
            .register_keys = mpiio::register_keys,
            .parse = mpiio::options_from,
#ifdef TAILRACE_HAVE_MPI
            .open_sink =
                [](const comm::Comm& comm, const core::Target& target, const mpiio::Options& own,
                   core::Phases& phases) {
                    return std::make_unique<mpiio::Sink>(comm, target, own, phases);
                },
            .open_source = mpiio::open_source
#endif
    };
}

Format pnetcdf_row() {
    return {.names = {"pnetcdf"},
            .missing = "PnetCDF",
            .remedy =
                "install PnetCDF (Debian: libpnetcdf-dev) and build again, or use format "
                "hdf5",
            .register_keys = pnetcdf::register_keys,
            .parse = pnetcdf::options_from,
#ifdef TAILRACE_HAVE_PNETCDF
            .check = [](const Planned&, const pnetcdf::Options& own) { pnetcdf::check(own); },
#endif
            .check_schema =
                [](const pnetcdf::Options& own, const core::Schema& schema) {
                    pnetcdf::check_schema(own, pnetcdf::as_stored(own, schema));
                },
#ifdef TAILRACE_HAVE_PNETCDF
            .open_sink = pnetcdf::open_sink,
            .open_source = pnetcdf::open_source
#endif
    };
}

void check_parts(const Planned& file, const posix::Options& own, LeftOver left_over) {
    if (!own.file_per_rank) return;
    posix::check_per_rank(own, file.path);
    posix::check_parts_beside(file.path);
    const posix::PartNames names = posix::part_names_for(file.path);
    for (int rank = 0; rank < file.ranks; ++rank)
        posix::check_part(posix::part_of_rank(file.path, rank, names), file.target.existing,
                          left_over);
}

std::unique_ptr<core::Sink> open_posix(const comm::Comm& comm, const core::Target& target,
                                       const posix::Options& own, core::Phases& phases) {
    if (own.file_per_rank) return std::make_unique<posix::PerRankSink>(comm, target, own, phases);
    return std::make_unique<posix::SharedSink>(comm, target, own, phases);
}

Format posix_row() {
    return {.names = {"posix", "posix-per-rank"},
            .register_keys = posix::register_keys,
            .parse = posix::options_from,
            .check_names = check_parts,
            .open_sink = open_posix,
            .open_source = [](const comm::Comm& comm, const std::filesystem::path& path,
                              const posix::Options&, core::Phases& phases) {
                return posix::open_raw_source(comm, path, phases);
            }};
}

std::vector<Format>& table() {
    static std::vector<Format> formats{hdf5_row(), netcdf4_row(), mpiio_row(), pnetcdf_row(),
                                       posix_row()};
    return formats;
}

const Format* find(const std::string& name) {
    for (const Format& format : table())
        if (std::ranges::count(format.names, name) > 0) return &format;
    return nullptr;
}

}  // namespace

const std::vector<Format>& all_formats() { return table(); }

const Format& format_named(const std::string& name) {
    if (const Format* format = find(name)) return *format;
    throw Error(Code::unsupported, "this program has no format " + name, "format",
                "add it with add_format before it is asked for");
}

const Format& format_of(const Options& options, const std::filesystem::path& path) {
    const std::string name = options.facts().format;
    const Format& format = format_named(name);
    if (format.open_sink && format.open_source) return format;
    throw Error(Code::unsupported,
                "this build has no format " + name + ": " + format.missing + " was not found",
                path.string(), format.remedy);
}

void add_format(Format format) {
    for (const std::string& name : format.names)
        if (find(name) != nullptr)
            throw Error(Code::bad_input, "there is a format " + name + " already", name,
                        "choose another name");
    table().push_back(std::move(format));
}

}  // namespace tailrace::formats
