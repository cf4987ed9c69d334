// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/phases.hpp"
#include "formats/limit/limit.hpp"
#include "formats/limit/plain.hpp"
#include "formats/limit/scratch.hpp"

namespace tailrace::formats::limit {

Clock::Clock(const comm::Comm& comm) : x_comm(comm) {
    x_comm.barrier();
    x_start_s = core::now_s();
}

double Clock::stop(const std::optional<core::Error>& mine) const {
    x_comm.agree(mine);
    return x_comm.max(core::now_s() - x_start_s);
}

bool first_of_node(const comm::Comm& comm) { return comm.split_node().rank() == 0; }

std::optional<core::Error> synced_file(const std::filesystem::path& file) {
    return comm::Comm::caught([&] {
        const Descriptor fd(open_file(file, O_WRONLY));
        if (!fd.open()) throw system_error(errno, "cannot open the file", file);
        if (::fsync(fd.get()) != 0) throw system_error(errno, "fsync failed", file);
    });
}

std::vector<Arm> arms() {
    std::vector<Arm> all;
    for (const Way way : {Way::file_per_rank, Way::shared_file, Way::mpi_io}) {
#ifndef TAILRACE_HAVE_MPI
        if (way == Way::mpi_io) continue;
#endif
        all.push_back({way, false});
        all.push_back({way, true});
    }
    all.push_back({Way::memory, false});
    return all;
}

std::string name(const Arm& arm) {
    const std::string end = arm.synced ? "_fsync" : "";
    switch (arm.way) {
        case Way::file_per_rank:
            return "file_per_rank" + end;
        case Way::shared_file:
            return "shared_file" + end;
        case Way::mpi_io:
            return "mpi_io" + end;
        case Way::memory:
            break;
    }
    return "memory_copy";
}

double measure(const comm::Comm& comm, const Work& work, const Arm& arm,
               const std::filesystem::path& beside) {
    if (arm.way == Way::memory) return memory_copy(comm, work);
    const std::uint64_t bytes = comm.sum(work.data.size()) * work.steps;
    comm.agree_on([&] {
        if (comm.rank() == 0) check_folder(beside, bytes);
    });
    const std::filesystem::path file = scratch_name(comm, beside);
    switch (arm.way) {
        case Way::file_per_rank:
            return file_per_rank(comm, work, arm.synced, file);
        case Way::shared_file:
            return shared_file(comm, work, arm.synced, file);
        default:
            break;
    }
#ifdef TAILRACE_HAVE_MPI
    return mpi_io(comm, work, arm.synced, file);
#else
    throw core::Error(core::Code::unsupported, "this build has no MPI-IO", file.string(),
                      "build tailrace with MPI");
#endif
}

}  // namespace tailrace::formats::limit
