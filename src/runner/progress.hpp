// SPDX-License-Identifier: Apache-2.0
// How far a run is, for whoever watches it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tailrace::runner {

struct Progress {
    enum class Stage { create, write, close, limit, read_back, verify, done };

    Stage stage = Stage::create;
    std::uint64_t repetition = 0, repetitions = 0;  ///< 0: the warm-up
    bool warm_up = false;
    std::uint64_t steps_done = 0, steps = 0;
    std::uint64_t new_steps = 0;   ///< since the last call
    double new_s = 0;              ///< that they took, sync included
    double longest_s = 0;          ///< the longest of them
    std::uint64_t step_bytes = 0;  ///< of all ranks
};

/// "create", "write", ... "done".  [local]
[[nodiscard]] std::string_view name(Progress::Stage stage) noexcept;

/// Called on rank 0, between two collective calls: it must be quick.
using Watch = std::function<void(const Progress&)>;

/// Tells about one repetition: every stage, and steps at most ten times a second.
class Teller {
public:
    Teller(const Watch& watch, const Progress& frame) : x_watch(watch), x_now(frame) {}
    void stage(Progress::Stage stage);  ///< [local]
    void step(double elapsed_s);        ///< [local]

private:
    void tell();

    const Watch& x_watch;
    Progress x_now;
    double x_told_s = 0;
};

}  // namespace tailrace::runner
