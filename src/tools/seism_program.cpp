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

/// The keys are those of docs/user/run.md.
std::string progress_line(const seism::Progress& now) {
    return "tailrace-progress: {\"stage\":\"" + std::string(name(now.stage)) +
           "\",\"repetition\":" + std::to_string(now.repetition) +
           ",\"repetitions\":" + std::to_string(now.repetitions) +
           ",\"warm_up\":" + (now.warm_up ? "true" : "false") +
           ",\"steps_done\":" + std::to_string(now.steps_done) +
           ",\"steps\":" + std::to_string(now.steps) +
           ",\"new_steps\":" + std::to_string(now.new_steps) +
           ",\"new_s\":" + std::to_string(now.new_s) +
           ",\"longest_s\":" + std::to_string(now.longest_s) +
           ",\"step_bytes\":" + std::to_string(now.step_bytes) + "}\n";
}

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
    inputs.read_once = mode.read_once;
    if (limit_alone) inputs.limit = seism::LimitMode::alone;
    for (const std::string& note : inputs.notes) core::log(core::LogLevel::warning, note);
    if (mode.dry_run) return print(seism::dry_run_text(comm, inputs));
    const seism::Software software{mpi_library(), hdf5_version(), mode.after_init_bytes};
    seism::HowToRun how;
    how.resume = mode.resume;
    if (mode.progress) how.watch = [&](const seism::Progress& now) { print(progress_line(now)); };
    seism::run(comm, inputs, software, print, how);
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
