// SPDX-License-Identifier: Apache-2.0
// Two files from two threads: what one of them loses, or defines, is not the other's.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <filesystem>
#include <thread>

#include "comm/comm.hpp"
#include "core/io_observer.hpp"
#include "core/phases.hpp"
#include "formats/file/target_file.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t piece = 4096;
constexpr std::uint64_t pieces = 20;

struct Folder {
    fs::path path = fs::temp_directory_path() / ("threads-" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

void put(int file, std::uint64_t at) {
    const std::array<char, piece> bytes{};
    REQUIRE(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(piece));
}

/// Data in turns with what is no data; each turn of one thread meets the other turn of the other.
/// @param lost  pieces that are asked for and never written
std::optional<core::Error> write_file(const fs::path& path, bool data_first, std::uint64_t lost,
                                      std::barrier<>& together) {
    core::Phases phases;
    formats::TargetFile target(comm::Comm::self(), {path}, phases);
    const int file = ::open(target.part().c_str(), O_WRONLY | O_CLOEXEC);
    for (std::uint64_t turn = 0; turn < 2 * pieces; ++turn) {
        const bool data = (turn % 2 == 0) == data_first;
        const auto phase = phases.enter(data ? "write" : "define");
        together.arrive_and_wait();  // the other has entered the other phase by now
        if (!data || turn / 2 >= lost) put(file, turn * piece);
        together.arrive_and_wait();
    }
    ::close(file);
    return comm::Comm::caught([&] { target.check_bytes(pieces * piece); });
}

std::uint64_t calls_under(const fs::path& file, const char* phase) {
    return core::io_observer()->tally(file, phase).write.calls;
}

}  // namespace

TEST_SUITE("threads") {
    // First: the rule changes for good when a second thread has phases.
    TEST_CASE("a thread without phases works for the only one that has some") {
        hooks::posix::install();
        const Folder folder;
        const fs::path path = folder.path / "helped";
        const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        core::Phases phases;
        {
            const auto phase = phases.enter("write");
            std::thread([&] { put(file, 0); }).join();
        }
        CHECK(calls_under(path, "write") == 1);
        std::thread([&] {
            core::Phases others;
            const auto phase = others.enter("define");
            put(file, piece);
        }).join();
        const auto phase = phases.enter("write");
        std::thread([&] { put(file, 2 * piece); }).join();
        CHECK(calls_under(path, "write") == 1);
        CHECK(calls_under(path, "define") == 1);
        CHECK(calls_under(path, "") == 1);
        ::close(file);
    }

    TEST_CASE("a loss in one file is told of that file, and of no other") {
        hooks::posix::install();
        const Folder folder;
        for (const std::uint64_t lost : {0, 3}) {
            CAPTURE(lost);
            std::barrier together(2);
            std::optional<core::Error> other;
            std::thread second(
                [&] { other = write_file(folder.path / "whole", false, 0, together); });
            const auto one = write_file(folder.path / "damaged", true, lost, together);
            second.join();
            CHECK_FALSE(other);
            REQUIRE(one.has_value() == (lost != 0));
            if (!one) continue;
            CHECK(one->code() == core::Code::data_lost);
            CHECK(one->where().find("damaged") != std::string::npos);
        }
    }
}
