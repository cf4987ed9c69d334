// SPDX-License-Identifier: Apache-2.0
// The main program of the MPI tests, see mpi_test.hpp. Open to a case that hangs: the watchdog of
// each rank prints its stacks.
#define DOCTEST_CONFIG_IMPLEMENT
#include "mpi_test.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <vector>

#include "loaded_libraries.hpp"
#include "tagged_output.hpp"
#include "watchdog.hpp"

namespace tailrace::test {
namespace {

struct World {
    MPI_Comm comm = MPI_COMM_NULL;  // our own: a test's messages never meet ours
    int rank = 0;
    int size = 1;
    Watchdog* watchdog = nullptr;
    bool failed_anywhere = false;
    bool any_ran = false;
    std::vector<std::string> folders;
};
World world;

bool combine(bool b, MPI_Op op) {
    int value = b ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, world.comm);
    return value != 0;
}

/// After each case all ranks agree on the verdict, so that all end alike.
struct Agreement : doctest::IReporter {
    explicit Agreement(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        world.any_ran = stats.numTestCasesPassingFilters > 0;
    }
    void test_case_start(const doctest::TestCaseData& data) override {
        x_name = data.m_name;
        world.watchdog->start(x_name);
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        const bool failed = stats.failure_flags != 0;
        std::vector<int> all(static_cast<std::size_t>(world.size));
        const int mine = failed ? 1 : 0;
        MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, world.comm);
        world.watchdog->stop();
        std::string ranks;
        for (int r = 0; r < world.size; ++r) {
            if (all[static_cast<std::size_t>(r)]) ranks += " " + std::to_string(r);
        }
        if (ranks.empty()) return;
        world.failed_anywhere = true;
        if (world.rank == 0) {
            std::fprintf(stderr, "\"%s\" failed on rank%s of %d\n", x_name.c_str(), ranks.c_str(),
                         world.size);
        }
    }
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

    std::string x_name;
};

bool only_asks(int argc, char** argv) {
    return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
        return argument.find("list-") != argument.npos || argument.find("help") != argument.npos ||
               argument == "-ltc";
    });
}

/// The wrong launcher starts N times "rank 0 of 1": every test would pass and mean nothing.
bool is_size_as_asked() {
    const char* asked = std::getenv("TAILRACE_TEST_RANKS");
    if (!asked || std::atoi(asked) == world.size) return true;
    std::fprintf(stderr,
                 "[rank %d] error: %s ranks were asked for, and MPI says %d.\n"
                 "       hint: start it with the launcher of the MPI it was built with\n",
                 world.rank, asked, world.size);
    return false;
}

void describe_libraries() {
    if (world.rank != 0) return;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    const std::string_view text(version, static_cast<std::size_t>(length));
    std::cout << "MPI: " << text.substr(0, text.find_first_of(",\n")) << ", " << world.size
              << " ranks\n";
    for (const auto& path : loaded_libraries()) std::cout << "loaded: " << path << '\n';
    std::cout << std::flush;
}

int run_cases(int argc, char** argv) {
    const std::string tag = "[rank " + std::to_string(world.rank) + "] ";
    TaggedOutput buffer(tag);
    std::ostream output(&buffer);
    doctest::Context context(argc, argv);
    context.setCout(&output);
    context.setOption("no-intro", true);
    if (world.rank != 0) context.setOption("minimal", true);  // speaks only of failures
    Watchdog watchdog(tag.substr(0, tag.size() - 1), case_seconds(), 6 + 2 * world.size);
    world.watchdog = &watchdog;
    const int status = context.run();
    world.watchdog = nullptr;
    if (!world.any_ran && world.rank == 0) {
        std::fprintf(stderr,
                     "error: no test case has this name; a filter that selects nothing "
                     "must not pass\n");
    }
    if (!world.any_ran) return 4;
    return on_any_rank(status != 0) || world.failed_anywhere ? 1 : 0;
}

}  // namespace

int rank() { return world.rank; }
int size() { return world.size; }
bool on_any_rank(bool b) { return combine(b, MPI_LOR); }
bool on_all_ranks(bool b) { return combine(b, MPI_LAND); }
void barrier() { MPI_Barrier(world.comm); }

std::string from_rank0(const std::string& text) {
    unsigned long long length = text.size();
    MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, world.comm);
    std::string result = text;
    result.resize(length);
    MPI_Bcast(result.data(), static_cast<int>(length), MPI_CHAR, 0, world.comm);
    return result;
}

std::string shared_folder(const char* base) {
    std::string path;
    if (world.rank == 0) {
        if (base == nullptr) base = std::getenv("TMPDIR");
        path = std::string(base ? base : "/tmp") + "/shared.XXXXXX";
        if (!mkdtemp(path.data())) path.clear();
    }
    path = from_rank0(path);
    REQUIRE_MESSAGE(!path.empty(), "rank 0 cannot make a temporary folder");
    world.folders.push_back(path);
    return path;
}

}  // namespace tailrace::test

REGISTER_LISTENER("agreement", 1, tailrace::test::Agreement);

int main(int argc, char** argv) {
    using namespace tailrace::test;
    if (only_asks(argc, argv)) return doctest::Context(argc, argv).run();
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    MPI_Comm_rank(world.comm, &world.rank);
    MPI_Comm_size(world.comm, &world.size);
    int status = 3;
    if (is_size_as_asked()) {
        describe_libraries();
        status = run_cases(argc, argv);
    }
    MPI_Barrier(world.comm);
    if (world.rank == 0) {
        for (const auto& folder : world.folders) {
            std::error_code ignored;
            std::filesystem::remove_all(folder, ignored);
        }
    }
    MPI_Comm_free(&world.comm);
    MPI_Finalize();
    return status;
}
