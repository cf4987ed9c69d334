// SPDX-License-Identifier: Apache-2.0
// Writes a small array through the Sink, with and without MPI: write_file FILE FORMAT
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/open.hpp"
#include "kernels/seism/geometry.hpp"

namespace {

using namespace tailrace;

void write(const comm::Comm& comm, const char* path, const formats::Options& options) {
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const kernels::seism::Geometry geometry{{ranks, 1, 1}, {4, 8, 16}, 2};
    core::Phases phases;
    const core::Target target{.path = path, .reserve_bytes = geometry.bytes()};
    auto sink = formats::open_sink(comm, target, options, phases);
    core::Schema schema;
    core::Object object;
    object.path = "/field";
    for (const auto size : geometry.dims()) object.dims.push_back({size, false});
    schema.objects.push_back(object);
    const auto ids = sink->define(schema);
    for (std::uint64_t step = 0; step < geometry.steps; ++step) {
        const std::vector<float> block(geometry.elements_per_rank(),
                                       static_cast<float>(comm.rank()) + 0.5F);
        core::Write piece;
        piece.object = ids.at(0);
        piece.place = geometry.place_of(static_cast<std::uint64_t>(comm.rank()), step);
        piece.data = reinterpret_cast<const std::byte*>(block.data());
        sink->write({&piece, 1});
        sink->complete(step);
    }
    const auto report = sink->close(core::Outcome::publish);
    if (comm.rank() == 0) {
        std::printf("%d ranks wrote %llu bytes\n", comm.size(),
                    static_cast<unsigned long long>(report.bytes_logical));
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        if (argc != 3) throw core::Error(core::Code::bad_input, "write_file wants FILE FORMAT");
        formats::Options options = formats::posix::Options{};
        if (std::strcmp(argv[2], "hdf5") == 0) {
            formats::hdf5::Options hdf5;
            hdf5.collective = true;
            options = hdf5;
        }
        write(comm::from_mpi(MPI_COMM_WORLD), argv[1], options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
