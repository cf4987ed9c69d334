// SPDX-License-Identifier: Apache-2.0
// What is gathered of the ranks' time lines, and that no rank waits for one that has none.
#include <cstdlib>
#include <limits>
#include <new>

#include "comm/mpi_comm.hpp"
#include "mpi_test.hpp"
#include "runner/time_lines.hpp"

using namespace tailrace;
using runner::begin_lines;
using runner::gathered_lines;

namespace {

std::size_t refused_bytes = std::numeric_limits<std::size_t>::max();  // and more: no memory

/// On rank 1, until its end.
class NoMemoryFor {
public:
    explicit NoMemoryFor(std::size_t bytes) {
        if (test::rank() == 1) refused_bytes = bytes;
    }
    ~NoMemoryFor() { refused_bytes = std::numeric_limits<std::size_t>::max(); }
    NoMemoryFor(const NoMemoryFor&) = delete;
    NoMemoryFor& operator=(const NoMemoryFor&) = delete;
};

comm::Comm world() { return comm::from_mpi(MPI_COMM_WORLD); }

constexpr int many = 1000;

/// Phases that alternate `times` times.
void pass(core::Phases& phases, int times) {
    for (int k = 0; k < times; ++k) {
        const auto phase = phases.enter(k % 2 == 0 ? "write" : "agree");
        const double start = core::now_s();
        while (core::now_s() == start) continue;
    }
}

}  // namespace

void* operator new(std::size_t bytes) {
    void* place = bytes < refused_bytes ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
    if (place == nullptr) throw std::bad_alloc();
    return place;
}
// As the library's own would: not the sanitizers', whose memory std::free does not take.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return bytes < refused_bytes ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

TAILRACE_MPI_TEST(3, "time lines: each rank's own phases, of one that was in none too") {
    const comm::Comm all = world();
    core::Phases phases;
    const auto clocks = begin_lines(all, phases);
    pass(phases, all.rank());
    const auto found = gathered_lines(all, phases, clocks, {});
    REQUIRE(found.has_value());
    REQUIRE(found->lines.size() == (all.rank() == 0 ? 3 : 0));
    if (all.rank() != 0) return;
    CHECK(found->phases == std::vector<std::string>{"write", "agree"});
    for (std::size_t rank = 0; rank < 3; ++rank) {
        CHECK(found->lines[rank].rank == static_cast<int>(rank));
        CHECK(found->lines[rank].stretches.size() == rank);
    }
}

TAILRACE_MPI_TEST(3, "time lines: there are none where a rank never began its own") {
    const comm::Comm all = world();
    core::Phases phases;
    if (all.rank() != 1) phases.begin_line(core::now_s());
    pass(phases, 2);
    CHECK_FALSE(gathered_lines(all, phases, {}, {}).has_value());
}

TAILRACE_MPI_TEST(3, "time lines: one rank has no memory to begin its own, all hear of it") {
    const comm::Comm all = world();
    core::Phases phases;
    const NoMemoryFor one(core::TimeLine::most_kept * sizeof(core::Stretch));
    TAILRACE_CHECK_ALL_THROW(core::Code::no_space, begin_lines(all, phases));
}

TAILRACE_MPI_TEST(3, "time lines: one rank has no memory to send its own, then there are none") {
    const comm::Comm all = world();
    core::Phases phases;
    const auto clocks = begin_lines(all, phases);
    pass(phases, many);
    const NoMemoryFor one(many * sizeof(core::Stretch));
    CHECK_FALSE(gathered_lines(all, phases, clocks, {}).has_value());
}
