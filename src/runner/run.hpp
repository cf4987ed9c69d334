// SPDX-License-Identifier: Apache-2.0
// The run: repetitions of write, read back and verify, each with its Record.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/record.hpp"
#include "runner/kernel.hpp"
#include "runner/progress.hpp"

namespace tailrace::runner {

/// What the program knows about itself and the kernel cannot ask for.
struct Software {
    std::string mpi_library;             ///< "Open MPI 4.1.4"
    std::string hdf5_version;            ///< "2.2.0"; empty: not in this build
    std::uint64_t after_init_bytes = 0;  ///< resident memory when MPI was up
};

/// What a repetition writes, one output after the other, each with a Record of its own. Their plans
/// differ in the file and its format.
using Outputs = std::vector<std::unique_ptr<Kernel>>;

/// Receives lines for a person; called on rank 0 only.
using Say = std::function<void(const std::string&)>;

struct HowToRun {
    /// Goes on with the last run of the same inputs in `plan().results`: only the repetitions that
    /// are missing there.
    bool resume = false;
    Watch watch{};  ///< may be empty; called on rank 0 only
};

/// Whether the machine is the one that will run it: elsewhere its memory and disk do not count.
enum class Where { here, elsewhere };

/// Checks what only the machine can tell: that the data of the ranks of every node fit its memory,
/// that files do not stand in each other's way, and that the results file can be written.
/// [collective]
/// @throws core::Error on all ranks or on none
void check_machine(const comm::Comm& comm, const Kernel& kernel, Where where = Where::here);

/// Refuses to write where something else is: results, a table or a file that the kernel reads under
/// the name of an output, of each other, or of a file that a run makes beside them, by path, by
/// link or by inode; and the file that standard input comes from, also through a launcher's pipe:
/// then by what it begins with. Touches nothing; for the rank that has read the inputs.  [local]
/// @throws core::Error{bad_input}
void check_file_names(const Kernel& kernel);
/// Whether two names, links followed, are one, whatever is there now.  [local]
[[nodiscard]] bool lead_to_one_name(const std::filesystem::path& a, const std::filesystem::path& b);

/// Checks all that a run checks before it creates anything (plugin, memory, results, the file's
/// name and folder, space, filters), creates nothing, and returns the effective configuration as
/// input lines, with a note on the ranks.  [collective]
/// @throws core::Error on all ranks
[[nodiscard]] std::string dry_run_text(const comm::Comm& comm, const Outputs& outputs,
                                       Where where = Where::here);

/// Runs the plan: per repetition fill, write, read back, verify; appends a Record for each to
/// `plan().results` and says the results.  [collective]
/// @throws core::Error on all ranks: of the run, or Code::verification where values are wrong
void run(const comm::Comm& comm, const Outputs& outputs, const Software& software, const Say& say,
         const HowToRun& how = {});

}  // namespace tailrace::runner
