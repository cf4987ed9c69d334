// SPDX-License-Identifier: Apache-2.0
#include "core/cleanup.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

using namespace tailrace::core;

namespace {

std::filesystem::path fresh_file(const std::string& name) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("tailrace-cleanup-" + std::to_string(::getpid()) + name);
    std::ofstream(path) << "x";
    return path;
}

}  // namespace

TEST_CASE("only files that are still remembered are removed") {
    const auto unfinished = fresh_file("a"), published = fresh_file("b");
    CHECK(remove_on_interrupt(unfinished));
    CHECK(remove_on_interrupt(published));
    keep_on_interrupt(published);
    remove_unfinished_files();
    CHECK_FALSE(std::filesystem::exists(unfinished));
    CHECK(std::filesystem::exists(published));
    std::filesystem::remove(published);
    keep_on_interrupt(unfinished);
}

TEST_CASE("there is room for 64 names of ordinary length, and it is given back") {
    for (int k = 0; k < 64; ++k) CHECK(remove_on_interrupt("/nowhere/" + std::to_string(k)));
    CHECK_FALSE(remove_on_interrupt("/nowhere/one-too-many"));
    for (int k = 0; k < 64; ++k) keep_on_interrupt("/nowhere/" + std::to_string(k));
    CHECK_FALSE(remove_on_interrupt(std::string(5000, 'x')));
    CHECK(remove_on_interrupt("/nowhere/again"));
    keep_on_interrupt("/nowhere/again");
}
