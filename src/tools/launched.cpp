// SPDX-License-Identifier: Apache-2.0
#include "tools/launched.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace tailrace::tools {

namespace {

/// -1: not set, or no number.
std::int64_t number_of(const char* variable) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): only read
    std::int64_t number = -1;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
    return number;
}

struct Variables {
    const char* processes;
    const char* rank;
};
constexpr std::array<Variables, 2> mpi_launchers{
    {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}};
constexpr Variables srun{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"};  // starts mpiexec's helpers, too

/// Steps of this number and above are Slurm's own: a batch script, an interactive shell.
constexpr std::int64_t first_special_step = 0xfffffff0;

bool in_step_of_srun() {
    const std::int64_t step = number_of("SLURM_STEP_ID");
    return step >= 0 && step < first_special_step;
}

}  // namespace

Launched launched() {
    Launched found;
    const auto take = [&found](const Variables& variables) {
        const std::int64_t processes = number_of(variables.processes);
        if (processes < 1 || (!found.variable.empty() && found.processes == 1)) return;
        found = {variables.processes, static_cast<std::uint64_t>(processes),
                 number_of(variables.rank) <= 0};
    };
    for (const Variables& variables : mpi_launchers) take(variables);
    if (found.variable.empty() && in_step_of_srun()) take(srun);
    return found;
}

void check_one_world(std::uint64_t ranks, const std::string& mpi_library) {
    const Launched by = launched();
    if (ranks != 1 || by.processes == 1) return;
    throw core::Error(core::Code::bad_input,
                      std::to_string(by.processes) + " processes were started (" + by.variable +
                          "), and MPI sees one: each would be a run of its own, all with the same "
                          "file",
                      "",
                      "start it with the mpiexec that belongs to " + mpi_library +
                          "; where they are to run apart, unset " + by.variable);
}

}  // namespace tailrace::tools
