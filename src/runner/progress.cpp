// SPDX-License-Identifier: Apache-2.0
#include "runner/progress.hpp"

#include <algorithm>

#include "core/phases.hpp"

namespace tailrace::runner {

namespace {

constexpr double least_interval_s = 0.1;

}  // namespace

std::string_view name(Progress::Stage stage) noexcept {
    switch (stage) {
        case Progress::Stage::create:
            return "create";
        case Progress::Stage::write:
            return "write";
        case Progress::Stage::close:
            return "close";
        case Progress::Stage::limit:
            return "limit";
        case Progress::Stage::read_back:
            return "read_back";
        case Progress::Stage::verify:
            return "verify";
        case Progress::Stage::done:
            break;
    }
    return "done";
}

void Teller::stage(Progress::Stage stage) {
    if (!x_watch) return;
    if (x_now.new_steps > 0) tell();
    x_now.stage = stage;
    if (stage == Progress::Stage::create) x_now.steps_done = 0;
    tell();
}

void Teller::step(double elapsed_s) {
    if (!x_watch) return;
    ++x_now.steps_done;
    ++x_now.new_steps;
    x_now.new_s += elapsed_s;
    x_now.longest_s = std::max(x_now.longest_s, elapsed_s);
    if (core::now_s() - x_told_s >= least_interval_s) tell();
}

void Teller::tell() {
    x_watch(x_now);
    x_told_s = core::now_s();
    x_now.new_steps = 0;
    x_now.new_s = x_now.longest_s = 0;
}

}  // namespace tailrace::runner
