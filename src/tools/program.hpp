// SPDX-License-Identifier: Apache-2.0
// What the main functions of the kernels share: MPI, signals, inputs, errors and the exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/config.hpp"

namespace tailrace::tools {

struct Program {
    std::string name;                ///< "tailrace-seism"
    std::string summary;             ///< one sentence
    std::string environment_prefix;  ///< "TAILRACE_SEISM_"
    core::KeyTable keys;
    std::string usage{};  ///< of its own arguments, for --help; empty: key=value only
    /// The first argument is the name of the input file; without any, the help is printed.
    bool first_names_input = false;
    bool reads_stdin = true;  ///< lines, where there is neither --input nor an argument
    /// Turns arguments of the classic program into key=value.
    std::function<std::vector<std::string>(const std::vector<std::string>&)> classic{};
    /// Turns the text of another program's input file into lines, on one rank; may throw.
    std::function<std::string(const std::string& text, const std::string& origin)> translate{};
    std::function<void()> prepare{};  ///< called first, on every rank, MPI being up; may throw
};

/// How the work is to be done.
struct Mode {
    bool dry_run = false;
    std::uint64_t ranks = 0;             ///< that a dry run is about; 0: not said
    bool elsewhere = false;              ///< a dry run that is about another machine
    bool resume = false;                 ///< goes on with the run whose Records are there
    bool progress = false;               ///< lines of progress on standard output, for a program
    std::uint64_t after_init_bytes = 0;  ///< resident memory when MPI was up
    std::string input_file;              ///< that lines came from; empty: none, or standard input
    std::string read_once;  ///< lines from what has no second reading: standard input, a pipe
};

/// Prints on standard output of rank 0.
using Print = std::function<void(const std::string&)>;
using Work = std::function<void(const comm::Comm&, core::Config, const Mode&, const Print&)>;

/// The whole main function: starts MPI, reads the inputs, does the work on all ranks; one rank
/// prints an Error. Returns the exit code after MPI_Finalize.  [collective]
[[nodiscard]] int run_program(int argc, char** argv, const Program& program, const Work& work);

/// "Open MPI 4.1.4".  [local]
[[nodiscard]] std::string mpi_library();
/// "2.2.0"; empty where HDF5 is not in this build.  [local]
[[nodiscard]] std::string hdf5_version();

}  // namespace tailrace::tools
