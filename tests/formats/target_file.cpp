// SPDX-License-Identifier: Apache-2.0
// The life of a file's name.
#include "formats/file/target_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "core/io_observer.hpp"
#include "formats/file/writers.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using core::Existing;
using core::Publish;
using core::Target;
using formats::TargetFile;

namespace {

/// As a library would: opens the name and writes.
void write_part(const TargetFile& file, const std::string& text) {
    if (rank() == 0) std::ofstream(file.part(), std::ios::in) << text;
    barrier();
}

Target target(const std::string& path, Existing existing = Existing::replace,
              Publish publish = Publish::atomic_rename, std::uint64_t reserve_bytes = 0) {
    Target target = target_of(path, publish, reserve_bytes);
    target.existing = existing;
    return target;
}

/// Counts as a test wants them.
class FakeObserver final : public core::IoObserver {
public:
    FakeObserver() { core::set_io_observer(this); }
    ~FakeObserver() override { core::set_io_observer(nullptr); }
    void enter_phase(std::string_view) noexcept override {}
    core::FileTally tally(const fs::path&) const override { return x_tally; }
    core::FileTally tally(const fs::path&, std::string_view phase) const override {
        return phase == "write" ? x_tally : core::FileTally{};
    }
    void forget(const fs::path&) noexcept override { x_tally = {}; }
    void hold_errors(const fs::path&, bool hold) noexcept override { x_held = hold; }

    core::FileTally x_tally;
    bool x_held = false;
};

}  // namespace

TEST_SUITE("target_file") {
    TAILRACE_MPI_TEST("published under its final name, and only then") {
        const std::string folder = shared_folder();
        core::Phases phases;
        put(folder + "/f", "old");
        {
            TargetFile file(world(), target(folder + "/f"), phases);
            CHECK(file.part() == folder + "/f.part");
            CHECK(left_in(folder) == Names{"f", "f.part", "f.part.lock"});
            write_part(file, "new");
            file.sync();
            CHECK(slurp(folder + "/f") == "old");
            barrier();
            file.publish();
            core::FileReport report;
            file.report(report);
            CHECK(report.path == folder + "/f");
            CHECK(report.parts == Names{folder + "/f"});
            CHECK(report.bytes_stored == 3);
            CHECK(report.durable);
            CHECK_FALSE(report.reserved);
        }
        CHECK(left_in(folder) == Names{"f"});
        CHECK(slurp(folder + "/f") == "new");
        CHECK(phases.times().contains("create"));
        CHECK(phases.times().contains("sync"));
        CHECK(phases.times().contains("publish"));
        CHECK(phases.times().contains("agree"));
    }

    TAILRACE_MPI_TEST("dropped or discarded, nothing is left") {
        const std::string folder = shared_folder();
        core::Phases phases;
        { const TargetFile file(world(), target(folder + "/f"), phases); }
        CHECK(left_in(folder).empty());
        TargetFile file(world(), target(folder + "/f"), phases);
        file.discard();
        CHECK(left_in(folder).empty());
    }

    TAILRACE_MPI_TEST("names that cannot be") {
        const std::string folder = shared_folder();
        core::Phases phases;
        put(folder + "/plain", "text");
        if (rank() == 0) {
            fs::create_directory(folder + "/dir");
            ::mkfifo((folder + "/fifo").c_str(), 0600);
            fs::create_symlink("circle", folder + "/circle");
        }
        const Names before = left_in(folder);
        const auto refused = [&](Code code, const std::string& path, const std::string& text) {
            CAPTURE(path);
            TAILRACE_CHECK_ALL_THROW(code, TargetFile(world(), target(path), phases));
            try {
                TargetFile(world(), target(path), phases);
            } catch (const core::Error& error) {
                const std::string whole = error.what();
                CAPTURE(whole);
                CHECK(whole.find(text) != std::string::npos);
                CHECK_FALSE(error.remedy().empty());
            }
        };
        refused(Code::bad_input, "", "name a file");
        refused(Code::bad_input, folder + "/", "name a file");
        refused(Code::bad_input, folder + "/dir", "folder");
        refused(Code::bad_input, folder + "/fifo", "regular file");
        refused(Code::bad_input, folder + "/circle", "circle");
        refused(Code::no_such_directory, folder + "/no/such/f", folder + "/no does not exist");
        refused(Code::no_such_directory, folder + "/plain/f", "plain");
        refused(Code::bad_input, folder + "/" + std::string(246, 'x'), "too long");
        CHECK(left_in(folder) == before);
        // The longest name that is allowed.
        TargetFile file(world(), target(folder + "/" + std::string(245, 'x')), phases);
        file.publish();
        CHECK(left_in(folder).size() == before.size() + 1);
    }

    TAILRACE_MPI_TEST("existing: refuse, and one that appears during the run") {
        const std::string folder = shared_folder();
        core::Phases phases;
        put(folder + "/f", "old");
        TAILRACE_CHECK_ALL_THROW(
            Code::already_exists,
            TargetFile(world(), target(folder + "/f", Existing::refuse), phases));
        TAILRACE_CHECK_ALL_THROW(
            Code::unsupported,
            TargetFile(world(), target(folder + "/f", Existing::append), phases));
        {
            TargetFile file(world(), target(folder + "/g", Existing::refuse), phases);
            put(folder + "/g", "of somebody else");
            TAILRACE_CHECK_ALL_THROW(Code::already_exists, file.publish());
        }
        CHECK(left_in(folder) == Names{"f", "g"});
        CHECK(slurp(folder + "/g") == "of somebody else");
    }

    TAILRACE_MPI_TEST("a left-over is replaced, a living run is not") {
        const std::string folder = shared_folder();
        core::Phases phases;
        put(folder + "/f.part", "of a killed run");
        put(folder + "/f.part.lock", "process 1 on some host\n");
        {
            TargetFile file(world(), target(folder + "/f"), phases);
            CHECK(fs::file_size(file.part()) == 0);
            barrier();
            write_part(file, "living");
            TAILRACE_CHECK_ALL_THROW(Code::already_exists,
                                     TargetFile(world(), target(folder + "/f"), phases));
            try {
                TargetFile(world(), target(folder + "/f"), phases);
            } catch (const core::Error& error) {
                CHECK(error.message().find("process ") != std::string::npos);
            }
            CHECK(slurp(folder + "/f.part") == "living");
            barrier();
            file.publish();
        }
        TargetFile(world(), target(folder + "/f"), phases).publish();
        CHECK(left_in(folder) == Names{"f"});
    }

    TAILRACE_MPI_TEST("a symbolic link stays, the file behind it is replaced") {
        const std::string folder = shared_folder();
        core::Phases phases;
        put(folder + "/data", "old");
        if (rank() == 0) {
            fs::create_symlink("data", folder + "/link");
            fs::create_symlink("link", folder + "/chain");
        }
        barrier();
        TargetFile file(world(), target(folder + "/chain"), phases);
        CHECK(file.path() == folder + "/data");
        write_part(file, "new");
        file.publish();
        CHECK(fs::is_symlink(folder + "/chain"));
        CHECK(fs::is_symlink(folder + "/link"));
        CHECK(slurp(folder + "/chain") == "new");
        CHECK(left_in(folder) == Names{"chain", "data", "link"});
    }

    TAILRACE_MPI_TEST("space is set aside, again after a truncation, and given back") {
        const std::string folder = shared_folder();
        core::Phases phases;
        constexpr std::uint64_t bytes = 8 << 20;
        const Target wanted =
            target(folder + "/f", Existing::replace, Publish::atomic_rename, bytes);
        TargetFile file(world(), wanted, phases);
        REQUIRE(file.reserved());
        CHECK(file.reservation().find(std::to_string(bytes)) != std::string::npos);
        CHECK(allocated(file.part()) >= bytes);
        CHECK(fs::file_size(file.part()) == 0);
        barrier();
        if (rank() == 0) REQUIRE(::truncate(file.part().c_str(), 0) == 0);
        barrier();
        CHECK(allocated(file.part()) < bytes);
        barrier();
        file.reserve_after_create();
        CHECK(allocated(file.part()) >= bytes);
        barrier();
        write_part(file, "small");
        file.publish();
        CHECK(fs::file_size(folder + "/f") == 5);
        CHECK(allocated(folder + "/f") < bytes);
        core::FileReport report;
        file.report(report);
        CHECK(report.reserved);
        CHECK(report.bytes_allocated < bytes);
    }

    TAILRACE_MPI_TEST("space for a library that truncates what it creates") {
        const std::string folder = shared_folder();
        core::Phases phases;
        constexpr std::uint64_t bytes = 8 << 20;
        Target wanted = target(folder + "/f", Existing::replace, Publish::atomic_rename, bytes);
        TargetFile file(world(), wanted, phases, formats::Reserve::after_create);
        CHECK_FALSE(file.reserved());
        CHECK(allocated(file.part()) == 0);
        barrier();
        file.reserve_after_create();
        CHECK(file.reserved());
        CHECK(allocated(file.part()) >= bytes);
        barrier();
        file.discard();
        wanted.reserve_bytes = std::uint64_t{1} << 62;
        TAILRACE_CHECK_ALL_THROW(
            Code::no_space_reserved,
            TargetFile(world(), wanted, phases, formats::Reserve::after_create));
        CHECK(left_in(folder).empty());
    }

    TAILRACE_MPI_TEST("a limit on file sizes is told before the run") {
        const std::string folder = shared_folder();
        core::Phases phases;
        struct rlimit before {};
        ::getrlimit(RLIMIT_FSIZE, &before);
        struct rlimit low = before;
        low.rlim_cur = 1 << 20;
        ::setrlimit(RLIMIT_FSIZE, &low);
        TAILRACE_CHECK_ALL_THROW(
            Code::no_space_reserved,
            TargetFile(world(),
                       target(folder + "/f", Existing::replace, Publish::atomic_rename, 2 << 20),
                       phases));
        ::setrlimit(RLIMIT_FSIZE, &before);
        CHECK(left_in(folder).empty());
    }

    TAILRACE_MPI_TEST("bytes that did not arrive are an error on all ranks") {
        const std::string folder = shared_folder();
        core::Phases phases;
        FakeObserver observer;
        TargetFile file(world(), target(folder + "/f"), phases);
        observer.x_tally.write.calls = 1;
        observer.x_tally.write.bytes_asked = observer.x_tally.write.bytes_done = 1000;
        file.check_bytes(1000);
        if (rank() == size() - 1) observer.x_tally.write.bytes_done = 999;
        TAILRACE_CHECK_ALL_THROW(Code::data_lost, file.check_bytes(1000));
        try {
            file.check_bytes(1000);
        } catch (const core::Error& error) {
            const std::string text = error.what();
            CAPTURE(text);
            CHECK(text.find(folder + "/f") != std::string::npos);
            CHECK(text.find("rank " + std::to_string(size() - 1) + " asked 1000 and wrote 999") !=
                  std::string::npos);
        }
        // One rank may write for others: the sum counts.
        observer.x_tally.write.bytes_done =
            rank() == 0 ? 1000 * static_cast<std::uint64_t>(size()) : 0;
        file.check_bytes(1000);
    }

    TAILRACE_MPI_TEST("failures seen below are told with their bytes") {
        const std::string folder = shared_folder();
        core::Phases phases;
        FakeObserver observer;
        TargetFile file(world(), target(folder + "/f"), phases);
        CHECK_FALSE(file.seen_failure("writing"));
        observer.x_tally.write = {
            .calls = 2, .bytes_asked = 200, .bytes_done = 150, .short_calls = 1};
        CHECK_FALSE(file.seen_failure("writing"));  // whoever wrote has tried again
        file.hold_errors(true);
        CHECK(observer.x_held);
        const auto fell_short = file.seen_failure("writing");
        REQUIRE(fell_short);
        CHECK(fell_short->code() == Code::no_space);
        observer.x_tally.write.failed_calls = 1;
        observer.x_tally.write.first_errno = EIO;
        const auto failure = file.seen_failure("writing");
        REQUIRE(failure);
        CHECK(failure->code() == Code::io);
        CHECK(failure->message().find("200 bytes asked, 150 written") != std::string::npos);
        file.hold_errors(false);
        CHECK_FALSE(observer.x_held);
    }

    TAILRACE_MPI_TEST("counts travel to rank 0 by phase") {
        const std::string folder = shared_folder();
        core::Phases phases;
        FakeObserver observer;
        TargetFile file(world(), target(folder + "/f"), phases);
        observer.x_tally.write.calls = 1 + static_cast<std::uint64_t>(rank());
        observer.x_tally.by_pwrite = observer.x_tally.write.calls;
        observer.x_tally.write.by_size[12] = 5;
        core::FileReport report;
        file.report(report);
        CHECK(report.writers_measured);
        CHECK(report.writers.size() == (rank() == 0 ? static_cast<std::size_t>(size()) : 0));
        for (std::size_t r = 0; r < report.writers.size(); ++r) {
            CHECK(report.writers[r].rank == static_cast<int>(r));
            CHECK(report.writers[r].total.write.calls == r + 1);
            CHECK(report.writers[r].total.by_pwrite == r + 1);
            CHECK(report.writers[r].by_phase.size() == 1);
            CHECK(report.writers[r].by_phase.at("write").write.by_size[12] == 5);
        }
        core::set_io_observer(nullptr);
        core::FileReport unknown;
        file.report(unknown);
        CHECK_FALSE(unknown.writers_measured);
        core::set_io_observer(&observer);
    }
}
