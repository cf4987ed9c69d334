// SPDX-License-Identifier: Apache-2.0
// Wall-clock time per named phase, exclusive of phases nested inside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/time_line.hpp"

namespace tailrace::core {

/// Monotonic seconds since an arbitrary start.  [local]
[[nodiscard]] double now_s() noexcept;

/// Seconds and number of entries of one phase on this rank.
struct PhaseTime {
    double elapsed_s = 0;
    std::uint64_t entries = 0;
};

/// Collects phase times of one run on one rank, in one thread; the system calls of a thread count
/// under its own phases. A phase that starts inside another pauses it, so that the times add up to
/// the whole. The names that Sinks and kernels give them stand in core/known_phases.hpp, with what
/// their time counts as: a new one belongs there too. The phase `read` lies within `read_back` and
/// within `verify`.
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

    /// From now on it is also kept when the phases are; call it outside of all phases.  [local]
    /// @param origin_s  of now_s(): from where times are counted
    void begin_line(double origin_s) { x_line.begin(origin_s); }
    /// When this rank was in which phase since begin_line().  [local]
    [[nodiscard]] const TimeLine& line() const noexcept { return x_line; }

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
    TimeLine x_line;
};

}  // namespace tailrace::core
