// SPDX-License-Identifier: Apache-2.0
// Names beside a file that a run needs for itself, where somebody else has them: refused, and what
// stands there is as it was.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "formats/file/target_file.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using core::Publish;
using formats::TargetFile;

namespace {

/// What may stand under a name.
const std::vector<std::string> kinds{"file", "folder", "pipe", "link", "dangling link"};

void make(const std::string& kind, const std::string& path, const std::string& folder) {
    put(folder + "/precious", "precious");
    if (rank() == 0) {
        if (kind == "file") std::ofstream(path) << "precious";
        if (kind == "folder") fs::create_directory(path);
        if (kind == "pipe") REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        if (kind == "link") fs::create_symlink("precious", path);
        if (kind == "dangling link") fs::create_symlink("nothing", path);
    }
    barrier();
}

std::string state_of(const std::string& path) {
    const fs::file_status status = fs::symlink_status(path);
    std::string state = std::to_string(static_cast<int>(status.type()));
    if (status.type() == fs::file_type::regular) state += slurp(path);
    if (status.type() == fs::file_type::symlink) state += fs::read_symlink(path).string();
    return state;
}

}  // namespace

TEST_SUITE("derived_names") {
    TAILRACE_MPI_TEST("of somebody else: refused and untouched") {
        for (const std::string name : {"f.part", "f.part.lock", "f.manifest"})
            for (const std::string& kind : kinds)
                for (const Publish publish : {Publish::atomic_rename, Publish::in_place}) {
                    if (name == "f.manifest" && publish == Publish::atomic_rename) continue;
                    const std::string folder = shared_folder(), path = folder + "/" + name;
                    CAPTURE(name);
                    CAPTURE(kind);
                    make(kind, path, folder);
                    const std::string before = state_of(path);
                    const Names names = names_in(folder);
                    barrier();
                    core::Phases phases;
                    std::string text;
                    try {
                        TargetFile file(world(), target_of(folder + "/f", publish), phases);
                        file.publish();
                    } catch (const core::Error& error) {
                        text = error.what();
                        CHECK(error.code() == Code::already_exists);
                    }
                    CHECK(text.find(name) != std::string::npos);
                    CHECK(text.find("move it away") != std::string::npos);
                    barrier();
                    CHECK(names_in(folder) == names);
                    CHECK(state_of(path) == before);
                    CHECK(slurp(folder + "/precious") == "precious");
                    barrier();
                }
    }

    TAILRACE_MPI_TEST("a manifest of somebody else does not matter to a file without subfiles") {
        for (const std::string& kind : kinds) {
            const std::string folder = shared_folder();
            CAPTURE(kind);
            make(kind, folder + "/f.manifest", folder);
            const std::string before = state_of(folder + "/f.manifest");
            barrier();
            core::Phases phases;
            TargetFile(world(), target_of(folder + "/f"), phases).publish();
            CHECK(state_of(folder + "/f.manifest") == before);
            barrier();
        }
    }

    TAILRACE_MPI_TEST("a report of what was discarded claims nothing") {
        const std::string folder = shared_folder();
        core::Phases phases;
        TargetFile file(world(), target_of(folder + "/f"), phases);
        if (rank() == 0) std::ofstream(file.part(), std::ios::in) << "data";
        barrier();
        file.discard();
        core::FileReport report;
        file.report(report);
        CHECK(report.parts.empty());
        CHECK(report.bytes_stored == 0);
        CHECK(report.bytes_allocated == 0);
        CHECK_FALSE(report.durable);
    }
}
