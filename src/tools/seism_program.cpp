// SPDX-License-Identifier: Apache-2.0
#include "tools/seism_program.hpp"

#include <utility>

#include "core/log.hpp"
#include "hooks/posix/observer.hpp"
#include "kernels/seism/inputs.hpp"
#include "kernels/seism/run.hpp"
#include "tools/program.hpp"

namespace tailrace::tools {

namespace {

namespace seism = kernels::seism;

/// A dry run on one process, as on a login node, is about the ranks that the grid will need.
std::uint64_t ranks_of(const comm::Comm& comm, const core::Config& config, bool dry_run) {
    const auto started = static_cast<std::uint64_t>(comm.size());
    if (!dry_run || started > 1) return started;
    std::uint64_t ranks = 1;
    for (std::uint64_t blocks : config.tuple("processor"))
        if (__builtin_mul_overflow(ranks, blocks, &ranks)) return started;
    return ranks;
}

void work(const comm::Comm& comm, core::Config config, const Mode& mode, bool limit_alone,
          const Print& print) {
    const std::uint64_t ranks = ranks_of(comm, config, mode.dry_run);
    seism::Inputs inputs =
        comm.agree_on([&] { return seism::inputs_from(std::move(config), ranks); });
    inputs.input_file = mode.input_file;
    if (limit_alone) inputs.limit = seism::LimitMode::alone;
    for (const std::string& note : inputs.notes) core::log(core::LogLevel::warning, note);
    if (mode.dry_run) return print(seism::dry_run_text(comm, inputs));
    const seism::Software software{mpi_library(), hdf5_version(), mode.after_init_bytes};
    seism::run(comm, inputs, software, print);
}

}  // namespace

int run_seism_program(int argc, char** argv, const SeismProgram& which) {
    Program program;
    program.name = which.name;
    program.summary = which.summary;
    program.environment_prefix = seism::environment_prefix;
    program.keys = seism::key_table();
    program.prepare = hooks::posix::install;  // from now on system calls are counted
    return run_program(
        argc, argv, program,
        [&](const comm::Comm& comm, core::Config config, const Mode& mode, const Print& print) {
            work(comm, std::move(config), mode, which.limit_alone, print);
        });
}

}  // namespace tailrace::tools
