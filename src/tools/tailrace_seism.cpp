// SPDX-License-Identifier: Apache-2.0
// The seism kernel as a program: tailrace-seism, installed also as seism-core-slice.
#include "core/log.hpp"
#include "hooks/posix/observer.hpp"
#include "kernels/seism/inputs.hpp"
#include "kernels/seism/run.hpp"
#include "tools/program.hpp"

namespace {

namespace seism = tailrace::kernels::seism;
using namespace tailrace;

/// A dry run on one process, as on a login node, is about the ranks that the grid will need.
std::uint64_t ranks_of(const comm::Comm& comm, const core::Config& config, bool dry_run) {
    const auto started = static_cast<std::uint64_t>(comm.size());
    if (!dry_run || started > 1) return started;
    std::uint64_t ranks = 1;
    for (std::uint64_t blocks : config.tuple("processor"))
        if (__builtin_mul_overflow(ranks, blocks, &ranks)) return started;
    return ranks;
}

void work(const comm::Comm& comm, core::Config config, const tools::Mode& mode,
          const tools::Print& print) {
    const std::uint64_t ranks = ranks_of(comm, config, mode.dry_run);
    seism::Inputs inputs =
        comm.agree_on([&] { return seism::inputs_from(std::move(config), ranks); });
    inputs.input_file = mode.input_file;
    for (const std::string& note : inputs.notes) core::log(core::LogLevel::warning, note);
    if (mode.dry_run) return print(seism::dry_run_text(comm, inputs));
    const seism::Software software{tools::mpi_library(), tools::hdf5_version(),
                                   mode.after_init_bytes};
    seism::run(comm, inputs, software, print);
}

}  // namespace

int main(int argc, char** argv) {
    tools::Program program;
    program.name = "tailrace-seism";
    program.summary = "writes the time steps of a simulation on a regular grid, and measures it";
    program.environment_prefix = seism::environment_prefix;
    program.keys = seism::key_table();
    program.prepare = hooks::posix::install;  // from now on system calls are counted
    return tools::run_program(argc, argv, program, work);
}
