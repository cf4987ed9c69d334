// SPDX-License-Identifier: Apache-2.0
// What the model waits for, whoever writes: its calls of a Sink, timed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/cpu_time.hpp"
#include "core/memory_watch.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "runner/opener.hpp"

namespace tailrace::kernels::history {

/// The processes whose memory this rank looks at; none: those of the node are another rank's.
struct Watched {
    std::vector<int> processes{};
    std::uint64_t of = 0;  ///< processes of all nodes; if some are watched by nobody, none count
    std::uint64_t idle_bytes = 0;
    double every_s = 0;  ///< 0: nobody looks
};

/// Of one repetition, on this rank.
class Meter {
public:
    explicit Meter(Watched watched) : x_watched(std::move(watched)) {}

    /// Begins a repetition unless one has begun.  [local]
    void begin();
    /// A call of the model, which waits for it.
    template <class Work>
    auto wait_for(Work&& work) {
        const Waiting waiting(*this);
        return work();
    }
    /// What it has waited since the last time, it has waited for that step.  [local]
    void belongs_to(core::Step step);
    void ended(const core::FileReport& file, double elapsed_s);  ///< [local]

    /// Ends the repetition.  [collective]
    /// @param bytes  of a record, on this rank
    [[nodiscard]] core::ServingRecord serving(const comm::Comm& comm, std::uint64_t bytes);
    /// The stall per step, in those that the Record has.  [collective]
    void add_to(const comm::Comm& comm, std::vector<core::StepRecord>& steps) const;

private:
    class Waiting {
    public:
        explicit Waiting(Meter& meter) : x_meter(meter) {}
        ~Waiting() {
            x_meter.x_waited_s += core::now_s() - x_start_s;
            x_meter.x_cpu_s += core::thread_cpu_s() - x_cpu_s;
        }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

    private:
        Meter& x_meter;
        double x_start_s = core::now_s(), x_cpu_s = core::thread_cpu_s();
    };
    [[nodiscard]] std::optional<core::SharedMemoryRecord> memory(const comm::Comm& comm);

    Watched x_watched;
    std::unique_ptr<core::MemoryWatch> x_watch;
    bool x_begun = false;
    double x_waited_s = 0, x_cpu_s = 0;
    std::vector<double> x_steps;
    std::vector<core::FileTimeRecord> x_files;
};

/// The same files, with the calls of their Sinks timed.  [local]
/// @param meter  outlives it, and its Sinks
[[nodiscard]] std::unique_ptr<runner::Opener> measured(std::unique_ptr<runner::Opener> opener,
                                                       Meter& meter);

}  // namespace tailrace::kernels::history
