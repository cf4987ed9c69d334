// SPDX-License-Identifier: Apache-2.0
#include "core/phases.hpp"

#include <chrono>

#include "core/io_observer.hpp"

namespace tailrace::core {

double now_s() noexcept {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Phases::Scope::Scope(Phases& phases, std::string_view name) : x_phases(phases) {
    x_phases.push(name);
}

Phases::Scope::~Scope() { x_phases.pop(); }

double Phases::seconds(std::string_view name) const {
    const auto found = x_times.find(std::string(name));
    return found == x_times.end() ? 0 : found->second.elapsed_s;
}

void Phases::push(std::string_view name) {
    const double now = now_s();
    if (!x_open.empty()) x_open.back().own_s += now - x_open.back().started_s;
    x_open.push_back({std::string(name), now, 0});
    x_line.turn(name, now);
    if (IoObserver* observer = io_observer()) observer->enter_phase(name);
}

void Phases::pop() {
    const double now = now_s();
    Open ended = std::move(x_open.back());
    x_open.pop_back();
    ended.own_s += now - ended.started_s;
    PhaseTime& time = x_times[ended.name];
    time.elapsed_s += ended.own_s;
    time.entries += 1;
    if (!x_open.empty()) x_open.back().started_s = now;
    const std::string_view outer = x_open.empty() ? std::string_view{} : x_open.back().name;
    x_line.turn(outer, now);
    if (IoObserver* observer = io_observer()) observer->enter_phase(outer);
}

}  // namespace tailrace::core
