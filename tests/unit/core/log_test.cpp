// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace tailrace::core;

TEST_CASE("a listener hears messages of its level and above; without one they are dropped") {
    log(LogLevel::warning, "nobody hears this");
    std::vector<std::string> heard;
    set_log_listener([&](LogLevel level, std::string_view text) {
        heard.push_back(std::string(name(level)) + ": " + std::string(text));
    });
    log(LogLevel::debug, "a");
    log(LogLevel::info, "b");
    log(LogLevel::warning, "c");
    set_log_listener({});
    log(LogLevel::warning, "d");
    CHECK(heard == std::vector<std::string>{"info: b", "warning: c"});
}

TEST_CASE("a listener that fails ends nothing") {
    set_log_listener([](LogLevel, std::string_view) { throw std::runtime_error("no terminal"); });
    log(LogLevel::warning, "a");
    set_log_listener({});
    CHECK(name(LogLevel::debug) == "debug");
}
