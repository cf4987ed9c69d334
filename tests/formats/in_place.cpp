// SPDX-License-Identifier: Apache-2.0
// Files that have their final name from the start, as subfiles need it, and interrupts.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "core/cleanup.hpp"
#include "formats/file/companions.hpp"
#include "formats/file/target_file.hpp"
#include "formats_test.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using core::Publish;
using core::Target;
using formats::TargetFile;

namespace {

/// As the driver leaves them: a stub, a subfile and their configuration. Their names.
Names put_set(const std::string& path) {
    put(path, "a stub");
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    const std::string own = path + ".subfile_" + std::to_string(info.st_ino);
    put(own + "_1_of_1", "data");
    put(own + ".config", "stripe_size=33554432\n");
    return left_in(fs::path(path).parent_path().string());
}

}  // namespace

TEST_SUITE("in_place") {
    TAILRACE_MPI_TEST("in place: the manifest, written last, says complete") {
        const std::string folder = shared_folder();
        core::Phases phases;
        const Target wanted = target_of(folder + "/f", Publish::in_place, 1 << 20);
        {
            TargetFile file(world(), wanted, phases);
            CHECK(file.part() == folder + "/f");
            file.add_part(folder + "/f.subfile");
            put(file.part().string(), "data");
            put(folder + "/f.subfile", "more data");
            CHECK(left_in(folder) == Names{"f", "f.part.lock", "f.subfile"});
            file.publish();
            core::FileReport report;
            file.report(report);
            CHECK(report.parts == Names{folder + "/f", folder + "/f.subfile"});
            CHECK(report.bytes_stored == 13);
        }
        CHECK(left_in(folder) == Names{"f", "f.manifest", "f.subfile"});
        const auto manifest = nlohmann::json::parse(slurp(folder + "/f.manifest"));
        CHECK(manifest.at("format") == "tailrace-complete/1");
        CHECK(manifest.at("files") == nlohmann::json::array({"f", "f.subfile"}));
        barrier();
        {
            TargetFile file(world(), wanted, phases);  // not complete from now on
            file.add_part(folder + "/f.subfile");
            CHECK(left_in(folder) == Names{"f", "f.part.lock", "f.subfile"});
        }
        CHECK(left_in(folder).empty());
    }

    TAILRACE_MPI_TEST("the subfiles of a replaced file go, those of others stay") {
        const std::string folder = shared_folder();
        core::Phases phases;
        const auto publish = [&](Publish how, const Names& parts) {
            TargetFile file(world(), target_of(folder + "/f", how), phases);
            for (const std::string& part : parts) {
                file.add_part(folder + "/" + part);
                put(folder + "/" + part, "data");
            }
            put(file.part().string(), "stub");
            file.publish();
        };
        put(folder + "/f.subfile_9_1_of_1", "nobody's");
        publish(Publish::in_place, {"f.subfile_7_1_of_2", "f.subfile_7_2_of_2"});
        publish(Publish::in_place, {"f.subfile_7_1_of_2", "f.subfile_8.config"});
        CHECK(left_in(folder) == Names{"f", "f.manifest", "f.subfile_7_1_of_2",
                                       "f.subfile_8.config", "f.subfile_9_1_of_1"});
        publish(Publish::atomic_rename, {});
        CHECK(left_in(folder) == Names{"f", "f.subfile_9_1_of_1"});
        put(folder + "/f.manifest", "{\"format\": \"somebody else's\", \"files\": [\"f\"]}");
        put(folder + "/victim", "x");
        publish(Publish::atomic_rename, {});
        CHECK(left_in(folder) == Names{"f", "f.manifest", "f.subfile_9_1_of_1", "victim"});
    }

    TAILRACE_MPI_TEST("subfiles with the number of the new file: another number is taken") {
        const std::string folder = shared_folder(), path = folder + "/f";
        core::Phases phases;
        std::uint64_t inode = 0;
        {  // which number is the next? Most file systems give it again
            TargetFile file(world(), target_of(path, Publish::in_place), phases);
            struct stat info {};
            REQUIRE(::stat(path.c_str(), &info) == 0);
            inode = info.st_ino;
            barrier();
        }
        barrier();
        const std::string taken = path + ".subfile_" + std::to_string(inode) + "_1_of_1";
        put(taken, "precious");
        {
            TargetFile file(world(), target_of(path, Publish::in_place), phases);
            struct stat info {};
            REQUIRE(::stat(path.c_str(), &info) == 0);
            CHECK(info.st_ino != inode);
            CHECK(formats::subfiles_of(path).empty());
            barrier();
        }
        barrier();
        CHECK(names_in(folder) == Names{fs::path(taken).filename().string()});
        CHECK(slurp(taken) == "precious");
    }

    TAILRACE_MPI_TEST("in place and discarded: subfiles go that nobody has told of") {
        const std::string folder = shared_folder(), path = folder + "/f";
        core::Phases phases;
        put(path + ".subfile_1_1_of_1", "of another file");
        {
            TargetFile file(world(), target_of(path, Publish::in_place), phases);
            if (rank() == 0) {
                struct stat info {};
                REQUIRE(::stat(path.c_str(), &info) == 0);
                const std::string own = path + ".subfile_" + std::to_string(info.st_ino);
                for (const char* end : {"_1_of_2", "_2_of_2", ".config"})
                    std::ofstream(own + end) << "data";
            }
            barrier();
        }
        barrier();
        CHECK(names_in(folder) == Names{"f.subfile_1_1_of_1"});
    }

    TAILRACE_MPI_TEST("the subfiles of a killed run go with its file") {
        const std::string folder = shared_folder(), path = folder + "/f";
        core::Phases phases;
        put_set(path);
        TargetFile(world(), target_of(path), phases).publish();
        CHECK(left_in(folder) == Names{"f"});
    }

    TAILRACE_MPI_TEST(
        "in the place of an older set: failed or interrupted, nothing of it is left") {
        const std::string folder = shared_folder(), path = folder + "/f";
        core::Phases phases;
        for (const bool complete : {true, false})
            for (const bool interrupted : {true, false}) {
                CAPTURE(complete);
                CAPTURE(interrupted);
                const Names older = put_set(path);
                if (complete)
                    put(path + ".manifest",
                        nlohmann::json{{"format", "tailrace-complete/1"}, {"files", older}}.dump());
                {
                    TargetFile file(world(), target_of(path, Publish::in_place), phases);
                    CHECK(left_in(folder) == Names{"f", "f.part.lock"});
                    if (interrupted) core::remove_unfinished_files();
                    if (interrupted) CHECK(left_in(folder).empty());
                }
                CHECK(left_in(folder).empty());
            }
    }

    // The moment at which all files have their names, and the folder is not synced yet.
    TAILRACE_MPI_TEST("an interrupt while the manifest is made durable leaves nothing") {
        hooks::posix::install();
        const std::string folder = shared_folder(), path = folder + "/f";
        core::Phases phases;
        Names then{"nobody looked"};
        {
            TargetFile file(world(), target_of(path, Publish::in_place), phases);
            put(path + ".subfile_7_1_of_1", "data");
            file.add_part(path + ".subfile_7_1_of_1");
            hooks::posix::inject_faults("op=fsync,path=" + folder + ",delay_ms=500");
            std::thread interrupt([&] {
                while (rank() == 0 && !fs::exists(path + ".manifest")) std::this_thread::yield();
                if (rank() == 0) core::remove_unfinished_files();
                if (rank() == 0) then = names_in(folder);
            });
            file.publish();
            interrupt.join();
        }
        hooks::posix::inject_faults("");
        if (rank() == 0) CHECK(then.empty());
        barrier();
    }

    TAILRACE_MPI_TEST("an interrupt removes what is unfinished, and nothing else") {
        const std::string folder = shared_folder();
        core::Phases phases;
        TargetFile(world(), target_of(folder + "/done"), phases).publish();
        TargetFile file(world(), target_of(folder + "/f"), phases);
        CHECK(left_in(folder) == Names{"done", "f.part", "f.part.lock"});
        core::remove_unfinished_files();
        CHECK(left_in(folder) == Names{"done"});
        TAILRACE_CHECK_ALL_THROW(Code::no_such_directory, file.publish());
    }
}
