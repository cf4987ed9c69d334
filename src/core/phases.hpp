// SPDX-License-Identifier: Apache-2.0
// Wall-clock time per named phase, exclusive of phases nested inside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::core {

/// Monotonic seconds since an arbitrary start.  [local]
[[nodiscard]] double now_s() noexcept;

/// Seconds and number of entries of one phase on this rank. No list of the entries: a run may have
/// millions of steps.
struct PhaseTime {
    double elapsed_s = 0;
    std::uint64_t entries = 0;
};

/// Collects phase times of one run on one rank. A phase that starts inside another pauses it, so
/// the times add up to the whole. Names used by Sinks: create, precreate, open_file, open_dataset,
/// define, write, agree, flush, close, describe, sync, publish; by kernels also: fill, compute,
/// read_back, verify.
class Phases {
public:
    /// Ends its phase on destruction.
    class Scope {
    public:
        Scope(Phases& phases, std::string_view name);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Phases& x_phases;
    };

    /// Begins a phase; keep the Scope alive while it lasts.  [local]
    [[nodiscard]] Scope enter(std::string_view name) { return Scope(*this, name); }
    /// Times of all phases so far.  [local]
    [[nodiscard]] const std::map<std::string, PhaseTime>& times() const noexcept { return x_times; }
    /// Seconds of a phase, 0 where it never ran.  [local]
    [[nodiscard]] double seconds(std::string_view name) const;

private:
    struct Open {
        std::string name;
        double started_s;
        double own_s;
    };
    void push(std::string_view name);
    void pop();

    std::map<std::string, PhaseTime> x_times;
    std::vector<Open> x_open;
};

}  // namespace tailrace::core
