// SPDX-License-Identifier: Apache-2.0
#include "tools/kernel_program.hpp"

#include <utility>

#include "core/log.hpp"
#include "hooks/posix/observer.hpp"
#include "runner/run.hpp"

namespace tailrace::tools {

namespace {

/// The keys are those of docs/user/run.md.
std::string progress_line(const runner::Progress& now) {
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

/// A dry run on one process, as on a login node, is about the ranks that the inputs ask for.
std::uint64_t ranks_of(const comm::Comm& comm, const KernelProgram& which,
                       const core::Config& config, const Mode& mode) {
    const auto started = static_cast<std::uint64_t>(comm.size());
    if (!mode.dry_run || started > 1) return started;
    if (mode.ranks != 0) return mode.ranks;
    const std::uint64_t asked = which.ranks_asked(config);
    return asked > 0 ? asked : started;
}

void work(const comm::Comm& comm, core::Config config, const KernelProgram& which, const Mode& mode,
          const Print& print) {
    const std::uint64_t ranks = ranks_of(comm, which, config, mode);
    runner::Plan started;
    started.input_file = mode.input_file;
    started.read_once = mode.read_once;
    if (which.limit_alone) started.limit = runner::LimitMode::alone;
    const auto outputs =
        comm.agree_on([&] { return which.make(std::move(config), ranks, started); });
    for (const std::string& note : outputs.front()->plan().notes)
        core::log(core::LogLevel::warning, note);
    if (mode.dry_run) {
        const auto where = mode.elsewhere ? runner::Where::elsewhere : runner::Where::here;
        return print(runner::dry_run_text(comm, outputs, where));
    }
    const runner::Software software{mpi_library(), hdf5_version(), mode.after_init_bytes};
    runner::HowToRun how;
    how.resume = mode.resume;
    if (mode.progress) how.watch = [&](const runner::Progress& now) { print(progress_line(now)); };
    runner::run(comm, outputs, software, print, how);
}

}  // namespace

int run_kernel_program(int argc, char** argv, KernelProgram which) {
    which.program.prepare = hooks::posix::install;  // from now on system calls are counted
    return run_program(
        argc, argv, which.program,
        [&](const comm::Comm& comm, core::Config config, const Mode& mode, const Print& print) {
            if (!which.share || mode.dry_run)
                return work(comm, std::move(config), which, mode, print);
            which.share(comm, config,
                        [&](const comm::Comm& ranks) { work(ranks, config, which, mode, print); });
        });
}

}  // namespace tailrace::tools
