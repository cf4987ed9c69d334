// SPDX-License-Identifier: Apache-2.0
// The model of first.c in C++: its files are the same.
//
//   mpiexec -n 6 ./first --npes_output_server 2     two more ranks write
//   mpiexec -n 4 ./first                            the model writes itself
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <tailrace/server.hpp>
#include <vector>

namespace {

namespace io = tailrace::io;

constexpr std::uint64_t nx = 90, ny = 46;
constexpr int steps = 18, steps_per_day = 6;

io::Metadata describe() {
    std::vector<double> lat(ny);
    for (std::size_t j = 0; j < ny; ++j) lat[j] = -90.0 + 180.0 * static_cast<double>(j) / (ny - 1);
    io::Metadata metadata;
    metadata.add_dimension("time", 0);
    metadata.add_dimension("lat", ny);
    metadata.add_dimension("lon", nx);
    metadata.add_variable<double>("time", {"time"});
    metadata.set_attribute("units", "hours since 2000-01-01 00:00:00", "time");
    metadata.add_variable<double>("lat", {"lat"});
    metadata.set_constant("lat", lat);
    metadata.add_variable<float>("T", {"time", "lat", "lon"});
    metadata.set_attribute("units", "K", "T");
    metadata.add_variable<float>("ps", {"time", "lat", "lon"});
    return metadata;
}

// The rows of this rank.
void compute(std::vector<float>& field, int step, std::uint64_t first) {
    for (std::size_t i = 0; i < field.size(); ++i)
        field[i] = static_cast<float>(static_cast<std::uint64_t>(step) * 10000 + first * nx + i);
}

void run(io::Server& server) {
    int rank = 0, size = 0;
    MPI_Comm_rank(server.comm(), &rank);
    MPI_Comm_size(server.comm(), &size);
    const std::int64_t id = server.add_collection("history", describe(),
                                                  "file=history.%Y%m%d.nc4; existing=replace");

    const std::uint64_t first = ny * rank / size, rows = ny * (rank + 1) / size - first;
    std::vector<float> field(rows * nx);
    for (int step = 0; step < steps; ++step) {
        server.set_date(id, 2000, 1, 1 + step / steps_per_day);
        compute(field, step, first);
        server.put(id, "T", field, {first, 0}, {rows, nx});
        compute(field, step + 100, first);  // the array is free again
        server.put(id, "ps", field, {first, 0}, {rows, nx});
        server.end_step(id, step * 24.0 / steps_per_day);
    }
    server.finalize();
    if (rank == 0) std::cout << "3 files are complete\n";
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        auto server = io::Server::start(MPI_COMM_WORLD, argc, argv);
        if (server.is_model()) run(server);
    } catch (const io::Error& error) {  // all ranks have it, or none
        std::cerr << error.what() << '\n';
        return error.code();
    }
    MPI_Finalize();
    return 0;
}
