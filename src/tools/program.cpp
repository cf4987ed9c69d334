// SPDX-License-Identifier: Apache-2.0
#include "tools/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "comm/mpi_comm.hpp"
#include "core/context.hpp"
#include "core/log.hpp"
#include "tools/command_line.hpp"
#include "tools/launched.hpp"
#include "tools/signals.hpp"
#ifdef TAILRACE_WITH_HDF5
#include "formats/hdf5/open.hpp"
#endif

namespace tailrace::tools {

namespace {

int stdout_errno = 0;  // of the first text that could not be printed

void print(std::FILE* stream, const std::string& text) {
    errno = 0;
    const bool done =
        std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
    if (!done && stream == stdout && stdout_errno == 0) stdout_errno = errno != 0 ? errno : EIO;
}

/// A reader that has gone (`| head -1`) has seen enough; any other loss of results is a failure.
int with_output_verdict(int exit_code) {
    if (stdout_errno == 0 || stdout_errno == EPIPE) return exit_code;
    print(stderr, "tailrace: error: the results could not be printed: " +
                      core::describe_errno(stdout_errno) +
                      " (standard output)\n       hint: free space there, or send standard output "
                      "elsewhere\n");
    return exit_code == 0 ? 1 : exit_code;
}

std::string usage_of(const Program& program) {
    return "mpiexec -n RANKS " + program.name + " [options] " +
           (program.usage.empty() ? "" : "[" + program.usage + "] ") + "[key=value ...]";
}

std::string help_of(const Program& program) {
    return program.name + ": " + program.summary + "\n\nUsage: " + usage_of(program) +
           "\n\n"
           "Inputs are lines `key value...` in any order, up to a line `DONE`, from a file" +
           (program.reads_stdin ? " or, without --input and\nkey=value, from standard input"
                                : ". Without\nany, the defaults are taken") +
           ". `#` begins a comment. A tuple is `2 2 2` in a line and "
           "2x2x2 in key=value.\n"
           "Precedence: defaults < lines < environment (" +
           program.environment_prefix +
           "KEY) < key=value.\n\n"
           "  -i, --input FILE                read lines from FILE (\"-\": standard input)\n"
           "      --dry-run                   check everything, print the effective "
           "configuration, write nothing\n"
           "      --ranks N                   what a dry run on one process takes for the number "
           "of "
           "ranks\n"
           "      --elsewhere                 in a dry run: memory and disk of this machine do not "
           "count\n"
           "      --resume                    go on with the last run of these inputs that is in "
           "the "
           "results:\n"
           "                                  only the repetitions that are missing (after a "
           "warm-up)\n"
           "      --progress                  a line `tailrace-progress: JSON` for each stage and "
           "for steps\n"
           "      --version                   print versions and end\n"
           "  -h, --help                      print this and end\n\n" +
           program.keys.help() +
           "\nExit codes: 0 ok, 1 the run failed, 2 usage or configuration, 3 verification failed, "
           "4 a capability is missing.\n";
}

std::string version_of(const Program& program) {
    const std::string hdf5 = hdf5_version();
    return program.name + " " + std::string(core::version()) + " (commit " +
           std::string(core::commit()) + ")\ncompiler: " + std::string(core::compiler()) +
           "\nMPI: " + mpi_library() + "\nHDF5: " + (hdf5.empty() ? "not in this build" : hdf5) +
           "\n";
}

/// A person at a terminal who gave nothing sees what is waited for.
void greet(const Invocation& invocation, const Program& program) {
    if (invocation.from_stdin && !invocation.input_file && ::isatty(STDIN_FILENO))
        print(stderr,
              program.name +
                  ": reading lines `key value...` from the terminal, DONE ends them (--help "
                  "lists the keys)\n");
}

/// The texts that rank 0 has read, on all ranks.
RawInputs inputs_of(const comm::Comm& comm, const Invocation& invocation, const Program& program) {
    RawInputs mine;
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        greet(invocation, program);
        mine = read_inputs(invocation, program.environment_prefix);
        if (program.translate && mine.has_lines)
            mine.lines = program.translate(mine.lines, mine.origin);
    });
    return RawInputs::unpacked(comm.broadcast(mine.packed()));
}

void take_input_name(Invocation& invocation, const core::KeyTable& keys) {
    std::vector<std::string>& words = invocation.assignments;
    if (!invocation.input_file && !words.empty() && words.front().find('=') == std::string::npos &&
        keys.find(words.front()) == nullptr) {
        invocation.input_file = words.front();
        words.erase(words.begin());
    }
    const bool nothing = !invocation.input_file && words.empty() && !invocation.version;
    invocation.help = invocation.help || nothing;
}

void work_on(const comm::Comm& comm, int argc, char** argv, const Program& program,
             std::uint64_t after_init_bytes, const Work& work) {
    const Print say = [&comm](const std::string& text) {
        if (comm.rank() == 0) print(stdout, text);
    };
    if (program.prepare) comm.agree_on(program.prepare);
    const Invocation invocation = comm.agree_on([&] {
        Invocation parsed = parse_command_line(argc, argv);
        if (program.first_names_input) take_input_name(parsed, program.keys);
        if (program.classic) parsed.assignments = program.classic(parsed.assignments);
        if (!program.reads_stdin) parsed.from_stdin = parsed.input_file == "-";
        return parsed;
    });
    if (invocation.help) return say(help_of(program));
    if (invocation.version) return say(version_of(program));
    if (!invocation.dry_run) check_one_world(comm.size(), mpi_library());
    const RawInputs raw = inputs_of(comm, invocation, program);
    Mode mode;
    mode.dry_run = invocation.dry_run;
    mode.ranks = invocation.ranks;
    mode.elsewhere = invocation.elsewhere;
    mode.resume = invocation.resume;
    mode.progress = invocation.progress;
    mode.after_init_bytes = after_init_bytes;
    if (!invocation.from_stdin) mode.input_file = invocation.input_file.value_or("");
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(mode.input_file, ignored)) mode.read_once = raw.lines;
    work(comm, comm.agree_on([&] { return raw.config(program.keys, program.environment_prefix); }),
         mode, say);
}

int tell(const comm::Comm& comm, const core::Error& error) {
    const bool apart = comm.size() == 1 && !launched().first;
    if (comm.rank() == 0 && !apart)
        print(stderr, "tailrace: error: " + std::string(error.what()) + "\n");
    return core::exit_code(error.code());
}

}  // namespace

std::string mpi_library() { return comm::library_version(); }

std::string hdf5_version() {
#ifdef TAILRACE_WITH_HDF5
    return formats::hdf5::library_facts().version;
#else
    return {};
#endif
}

int run_program(int argc, char** argv, const Program& program, const Work& work) {
    open_standard_descriptors();
    ignore_write_signals();
    clean_up_after_death();
    // HDF5's subfiling driver has threads of its own that call MPI.
    int provided = 0;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
        print(stderr, "tailrace: error: MPI did not start\n");
        return 1;
    }
    const std::uint64_t after_init_bytes = core::process_memory().resident_bytes;
    clean_up_on_signals();
    ignore_write_signals();  // whatever MPI has made of them
    int exit_code = 0;
    {
        const comm::Comm comm = comm::from_mpi(MPI_COMM_WORLD);
        if (comm.rank() == 0)
            core::set_log_listener([](core::LogLevel level, std::string_view text) {
                print(stderr, "tailrace: " + std::string(core::name(level)) + ": " +
                                  std::string(text) + "\n");
            });
        try {
            work_on(comm, argc, argv, program, after_init_bytes, work);
        } catch (const core::Error& error) {
            exit_code = tell(comm, error);
        } catch (const std::exception& error) {
            // Of this rank alone: the others cannot know, and would wait for ever.
            print(stderr, "tailrace: error: " + std::string(error.what()) + " (rank " +
                              std::to_string(comm.rank()) + "); please report it\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (comm.rank() == 0) exit_code = with_output_verdict(exit_code);
        exit_code = comm.broadcast_value(exit_code);
        comm.barrier();
        ending_with(exit_code);
    }
    core::set_log_listener({});
    MPI_Finalize();
    return exit_code;
}

}  // namespace tailrace::tools
