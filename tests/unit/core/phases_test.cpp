// SPDX-License-Identifier: Apache-2.0
#include "core/phases.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/io_observer.hpp"

using namespace tailrace::core;

namespace {

void wait_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Remembers the phases that it was told of.
class Listener : public IoObserver {
public:
    void enter_phase(std::string_view phase) noexcept override { told.emplace_back(phase); }
    [[nodiscard]] FileTally tally(const std::filesystem::path&) const override { return {}; }
    [[nodiscard]] FileTally tally(const std::filesystem::path&, std::string_view) const override {
        return {};
    }
    void forget(const std::filesystem::path&) noexcept override {}
    void hold_errors(const std::filesystem::path&, bool) noexcept override {}

    std::vector<std::string> told;
};

}  // namespace

TEST_CASE("a nested phase pauses the outer one") {
    Phases phases;
    const double begin = now_s();
    {
        const auto outer = phases.enter("write");
        wait_ms(20);
        {
            const auto inner = phases.enter("agree");
            wait_ms(40);
        }
        wait_ms(20);
    }
    const double whole = now_s() - begin;
    CHECK(phases.seconds("agree") >= 0.040);
    CHECK(phases.seconds("write") >= 0.040);
    // Adding up to the whole means that nothing was counted twice.
    CHECK(phases.seconds("write") + phases.seconds("agree") <= whole);
    CHECK(phases.seconds("write") + phases.seconds("agree") >= whole * 0.95);
    CHECK(phases.times().at("write").entries == 1);
}

TEST_CASE("entries are counted and summed, not kept") {
    Phases phases;
    for (int k = 0; k < 3; ++k) {
        const auto scope = phases.enter("write");
        wait_ms(2);
    }
    const PhaseTime& time = phases.times().at("write");
    CHECK(time.entries == 3);
    CHECK(time.elapsed_s >= 0.006);
    CHECK(phases.seconds("never") == 0);
}

TEST_CASE("a phase ends when an exception leaves it") {
    Phases phases;
    try {
        const auto scope = phases.enter("write");
        throw 1;
    } catch (int) {
    }
    { const auto scope = phases.enter("close"); }
    CHECK(phases.times().at("write").entries == 1);
    CHECK(phases.times().at("close").entries == 1);
}

TEST_CASE("the observer hears of every change of phase") {
    Listener listener;
    set_io_observer(&listener);
    Phases phases;
    {
        const auto outer = phases.enter("write");
        const auto inner = phases.enter("agree");
    }
    set_io_observer(nullptr);
    CHECK(listener.told == std::vector<std::string>{"write", "agree", "write", ""});
}

TEST_CASE("tallies add up, and an empty one changes no extreme") {
    CallTally a, b;
    a.calls = 2;
    a.bytes_asked = 10;
    a.smallest = 4;
    a.largest = 6;
    a.by_size[2] = 2;
    b.calls = 1;
    b.bytes_asked = 2;
    b.smallest = b.largest = 2;
    b.first_errno = 28;
    CallTally sum = a;
    sum += CallTally{};
    CHECK(sum.smallest == 4);
    sum += b;
    CHECK(sum.calls == 3);
    CHECK(sum.bytes_asked == 12);
    CHECK(sum.smallest == 2);
    CHECK(sum.largest == 6);
    CHECK(sum.first_errno == 28);
    CHECK(sum.by_size[2] == 2);
    CallTally from_empty;
    from_empty += a;
    CHECK(from_empty.smallest == 4);
}
