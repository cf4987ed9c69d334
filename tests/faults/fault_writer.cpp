// SPDX-License-Identifier: Apache-2.0
// The same run in a program that does not count its system calls, as a program of somebody else
// that uses the library; with TAILRACE_TEST_HELD in one that does: fault_writer FILE OUTCOMES
// collective|independent [fill] [precreate] [netcdf4]. Each rank writes how it ended to
// OUTCOMES/rank.N: the code of the Error, and a second line when MPI_Finalize has returned.
#include <cstdio>
#include <exception>
#include <string>

#include "fault_run.hpp"
#ifdef TAILRACE_TEST_HELD
#include "hooks/posix/observer.hpp"
#endif

namespace {

std::string ending(const std::string& path, const fault_test::Run& run) {
    try {
        (void)fault_test::write_file(tailrace::comm::from_mpi(MPI_COMM_WORLD), path, run);
        return "ok";
    } catch (const tailrace::core::Error& error) {
        return std::string(tailrace::core::name(error.code()));
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
#ifdef TAILRACE_TEST_HELD
    tailrace::hooks::posix::install();
#endif
    int provided = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fault_test::Run run;
    for (int i = 3; i < argc; ++i) {
        const std::string word = argv[i];
        run.collective = run.collective || word == "collective";
        run.fill = run.fill || word == "fill";
        run.precreate = run.precreate || word == "precreate";
        run.netcdf4 = run.netcdf4 || word == "netcdf4";
    }
    const std::string name = std::string(argv[2]) + "/rank." + std::to_string(rank);
    const std::string ended = ending(argv[1], run);
    std::FILE* file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return 2;
    std::fprintf(file, "%s\n", ended.c_str());
    std::fflush(file);
    MPI_Finalize();
    std::fputs("finalized\n", file);
    std::fclose(file);
    return 0;  // a launcher kills the other ranks after another status
}
