// SPDX-License-Identifier: Apache-2.0
// Sixth user, as a server is one: threads with a Comm of their own, each with files in the formats
// of libraries that are not for threads; under MPI another thread writes a file of all ranks.
//   sink_users_threads FOLDER [mpi]
// Value of an element: 1000000 x number of the file + 1000 x step + place in the step.
#include <array>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <thread>

#include "comm/mpi_comm.hpp"
#include "comm/threads.hpp"
#include "core/phases.hpp"
#include "formats/open.hpp"

namespace {

using namespace tailrace;

constexpr core::Step steps = 60;
constexpr std::uint64_t width = 200;  // elements of a rank and step

struct Output {
    std::string name;
    formats::Options options;
};

std::vector<Output> outputs(bool mpi) {
    formats::hdf5::Options packed;
    packed.chunks = {{"/record", {1, width}}, {"/dense", {steps, width}}};
    packed.deflate = 1;
    formats::netcdf4::Options netcdf;
    netcdf.deflate = 1;
    netcdf.library_chunks = netcdf.collective = true;
    std::vector<Output> all{{"plain.h5", formats::hdf5::Options{}},
                            {"packed.h5", packed},
                            {"packed.nc", netcdf},
                            {"plain.nc", formats::netcdf4::Options{}}};
    if (mpi) all.push_back({"cdf5.nc", formats::pnetcdf::Options{}});
    return all;
}

core::Object object(const std::string& path, core::Kind kind, std::uint64_t ranks) {
    core::Object made{.path = path, .type = core::Scalar::f64};
    const bool record = kind == core::Kind::record;
    made.dims = {{record ? 0 : steps, record}, {ranks * width}};
    made.kind = kind;
    return made;
}

/// One step; to be called in turns with that of other files.
void put(core::Sink& sink, const comm::Comm& comm, std::span<const core::ObjectId> ids,
         std::uint64_t file, core::Step step) {
    const std::uint64_t first = width * static_cast<std::uint64_t>(comm.rank());
    std::vector<double> values(width);
    std::iota(values.begin(), values.end(),
              static_cast<double>(1000000 * file + 1000 * step + first));
    std::vector<core::Write> pieces;
    for (const core::ObjectId id : ids)
        pieces.push_back({.object = id,
                          .place = {{step, first}, {1, width}},
                          .data = reinterpret_cast<const std::byte*>(values.data()),
                          .memory = {},
                          .type = core::Scalar::f64});
    sink.write(pieces);
    sink.complete(step);
}

void write_file(const comm::Comm& comm, const std::string& path, std::uint64_t number,
                const formats::Options& options) {
    core::Phases phases;
    const auto sink = formats::open_sink(comm, {path}, options, phases);
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const auto ids = sink->define(
        {{object("/record", core::Kind::record, ranks), object("/dense", core::Kind::dense, ranks)},
         {}});
    for (core::Step step = 0; step < steps; ++step) put(*sink, comm, ids, number, step);
    (void)sink->close(core::Outcome::publish);
}

/// A thread per format; each rank has files of its own.
void write_alone(const std::string& folder, bool mpi, int rank) {
    const std::vector<Output> all = outputs(mpi);
    comm::run_threads(static_cast<int>(all.size()), [&](const comm::Comm& threads) {
        const auto number = static_cast<std::size_t>(threads.rank());
        write_file(comm::Comm::self(), folder + "/" + std::to_string(rank) + "-" + all[number].name,
                   number, all[number].options);
    });
}

void write_all(const std::string& folder, bool mpi) {
    if (!mpi) return write_alone(folder, false, 0);
    const comm::Comm comm = comm::from_mpi(MPI_COMM_WORLD);
    std::optional<core::Error> alone;
    std::thread server(
        [&] { alone = comm::Comm::caught([&] { write_alone(folder, true, comm.rank()); }); });
    formats::hdf5::Options options;
    options.collective = true;
    options.chunks["/record"] = {1, width};
    const auto together = comm::Comm::caught([&] {
        write_file(comm, folder + "/all.h5", 7, options);
        write_file(comm, folder + "/all.nc", 8, formats::netcdf4::Options{});
    });
    server.join();
    comm.agree(together ? together : alone);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const bool mpi = argc > 2 && std::string_view(argv[2]) == "mpi";
    int provided = 0, status = 0;
    if (mpi) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    try {
        write_all(argv[1], mpi);
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    if (mpi) MPI_Finalize();
    return status;
}
