// SPDX-License-Identifier: Apache-2.0
// No hidden copies: a rank's memory above what it had after MPI_Init is at most its data, 10
// percent and 64 MiB.
#include <cstdio>
#include <cstring>

#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

/// A line of /proc/self/status in bytes.
std::uint64_t status_bytes(const char* key) {
    std::uint64_t kib = 0;
    if (std::FILE* file = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, file) != nullptr)
            if (std::strncmp(line, key, std::strlen(key)) == 0)
                kib = std::strtoull(line + std::strlen(key) + 1, nullptr, 10);
        std::fclose(file);
    }
    return kib * 1024;
}

/// The peak of this process from now on (VmHWM).
void reset_peak() {
    if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
        std::fputs("5", file);
        std::fclose(file);
    }
}

void check_memory(const comm::Comm& comm, const std::string& path, const hdf5::Options& options) {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    const std::uint64_t before = status_bytes("VmRSS:");
    reset_peak();
    const Extents dims{3, static_cast<std::uint64_t>(comm.size()) * 64, 1024, 256};
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    std::uint64_t data_bytes = 0;
    {
        const std::vector<float> data(64 * 1024 * 256, 1.0F);
        data_bytes = data.size() * sizeof(float);
        for (std::uint64_t step = 0; step < dims[0]; ++step) {
            const Write piece{ids[0], my_part(comm, dims, step), bytes(data), {}, Scalar::f32};
            sink->write({&piece, 1});
            sink->complete(step);
        }
    }
    (void)sink->close(Outcome::publish);
    const std::uint64_t peak = status_bytes("VmHWM:") - before;
    if (comm.rank() == 0)
        MESSAGE(path << ": peak " << peak / mib << " MiB above, data " << data_bytes / mib);
    INFO("peak " << peak / mib << " MiB above, data " << data_bytes / mib << " MiB");
    CHECK(data_bytes == 64 * mib);
    CHECK(peak >= data_bytes / 10 * 9);  // else nothing was measured
    CHECK(peak <= data_bytes + data_bytes / 10 + 64 * mib);
}

}  // namespace

TAILRACE_MPI_TEST(4, "hdf5: memory is the data, 10 percent and 64 MiB") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool collective : {true, false}) {
        hdf5::Options options;
        options.collective = collective;
        options.fill_time = hdf5::FillTime::never;
        check_memory(comm, folder + "/contiguous.h5", options);
        options.chunks["/chunked"] = {1, 64, 1024, 256};
        check_memory(comm, folder + "/chunked.h5", options);
        options.fill_time = hdf5::FillTime::at_allocation;
        check_memory(comm, folder + "/filled.h5", options);
    }
}
