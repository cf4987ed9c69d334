// SPDX-License-Identifier: Apache-2.0
#include "core/cleanup.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

using namespace tailrace::core;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone at the end.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("tailrace-cleanup-" + std::to_string(::getpid()));
    Folder() { fs::create_directory(path); }
    ~Folder() { fs::remove_all(path); }

    [[nodiscard]] fs::path file(const std::string& name) const {
        std::ofstream(path / name) << "x";
        return path / name;
    }
};

}  // namespace

TEST_CASE("only files that are still remembered are removed") {
    const Folder folder;
    const auto unfinished = folder.file("a"), published = folder.file("b");
    CHECK(remove_on_interrupt(unfinished));
    CHECK(remove_on_interrupt(published));
    keep_on_interrupt(published);
    remove_unfinished_files();
    CHECK_FALSE(fs::exists(unfinished));
    CHECK(fs::exists(published));
    keep_on_interrupt(unfinished);
}

TEST_CASE("another file that has the name by now stays, also one with the old number") {
    const Folder folder;
    const auto moved = folder.file("moved"), gone = folder.file("gone");
    CHECK(remove_on_interrupt(moved));
    CHECK(remove_on_interrupt(gone));
    fs::rename(moved, folder.path / "elsewhere");
    fs::remove(gone);
    // Times of birth are as fine as the tick of the system's clock.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (void)folder.file("gone");  // most file systems give it the number that is free
    (void)folder.file("moved");
    remove_unfinished_files();
    CHECK(fs::exists(moved));
    CHECK(fs::exists(gone));
    CHECK(fs::exists(folder.path / "elsewhere"));
    keep_on_interrupt(std::array{moved, gone});
}

TEST_CASE("a name that a file is going to have") {
    const Folder folder;
    const auto part = folder.file("f.part"), path = folder.file("f");
    CHECK(remove_on_interrupt(path, part));
    remove_unfinished_files();
    CHECK(fs::exists(path));
    CHECK(fs::exists(part));
    fs::rename(part, path);
    remove_unfinished_files();
    CHECK_FALSE(fs::exists(path));
    keep_on_interrupt(path);
}

TEST_CASE("there is room for 64 names of ordinary length, and it is given back") {
    const Folder folder;
    std::array<fs::path, 64> names;
    for (std::size_t k = 0; k < names.size(); ++k) {
        names[k] = folder.file(std::to_string(k));
        CHECK(remove_on_interrupt(names[k]));
    }
    const auto more = folder.file("one-too-many");
    CHECK_FALSE(remove_on_interrupt(more));
    keep_on_interrupt(names);
    CHECK(remove_on_interrupt(more));
    CHECK_FALSE(remove_on_interrupt(std::string(5000, 'x'), more));
    CHECK_FALSE(remove_on_interrupt(folder.path / "nothing"));
    keep_on_interrupt(more);
    remove_unfinished_files();
    CHECK(fs::exists(names[63]));
    CHECK(fs::exists(more));
}
