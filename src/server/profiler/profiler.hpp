// SPDX-License-Identifier: Apache-2.0
// What one thread of one rank spends its time on, as regions within regions.
//
//   const auto receiving = profiler.region("receive_data");
//   const auto of = profiler.region(collection);  // a line of its own within receive_data
//
// core::Phases is flat, is meant for one file, and tells the observer of system calls; this one
// knows who called whom, and lives as long as the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/phases.hpp"
#include "server/profiler/name_tree.hpp"

namespace tailrace::server {

/// One stay in a region.
struct RegionEvent {
    std::uint64_t region = 0;  ///< place of the region in a list of its own
    std::uint64_t thread = 0;  ///< 0: that of the Profiler; others were merged
    double start_s = 0, elapsed_s = 0;
    static void fields(auto& io, auto& v) { io.all(v.region, v.thread, v.start_s, v.elapsed_s); }
};

/// The longest of all events. A region never goes before those within it, for it lasts as long.
struct RegionEvents {
    std::vector<RegionEvent> kept;
    std::uint64_t left_out = 0;
    double longest_left_out_s = 0;

    void add(const RegionEvent& event, std::size_t most);  ///< [local]
    void thin(std::size_t most);                           ///< [local] the longest stay
    static void fields(auto& io, auto& v) { io.all(v.kept, v.left_out, v.longest_left_out_s); }
};

/// A region by where it began: the same name within another region is another one.
struct RegionTimes {
    std::string name;
    std::uint64_t depth = 1;  ///< 1: within none
    std::uint64_t calls = 0;
    double inclusive_s = 0, exclusive_s = 0;
    static void fields(auto& io, auto& v) {
        io.all(v.name, v.depth, v.calls, v.inclusive_s, v.exclusive_s);
    }
};

/// What a Profiler has seen, with regions that are open now up to now.
struct ProfileOfThread {
    std::vector<RegionTimes> regions;  ///< each before those within it
    RegionEvents events;
    static void fields(auto& io, auto& v) { io.all(v.regions, v.events); }
};

/// Belongs to one thread. One that is off does nothing, at the cost of a look at a flag.
class Profiler {
public:
    using Clock = std::function<double()>;
    static constexpr std::size_t most_events = 16384;  ///< kept for the trace

    /// Off.  [local]
    Profiler() = default;
    /// On, and in the region `name` as long as it lives.  [local]
    /// @param now  seconds, never less than before
    explicit Profiler(std::string_view name, Clock now = core::now_s,
                      std::size_t events = most_events);
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;

    /// Ends its region on destruction.
    class Region {
    public:
        ~Region() {
            if (x_profiler != nullptr) x_profiler->end();
        }
        Region(const Region&) = delete;
        Region& operator=(const Region&) = delete;

    private:
        friend class Profiler;
        explicit Region(Profiler* profiler) : x_profiler(profiler) {}
        Profiler* x_profiler;
    };
    /// Begins a region within that which began last; keep the Region while it lasts.  [local]
    [[nodiscard]] Region region(std::string_view name) {
        if (!on()) return Region(nullptr);
        begin(name);
        return Region(this);
    }
    [[nodiscard]] bool on() const noexcept { return !x_open.empty(); }  ///< [local]

    /// Takes in what another thread's Profiler has seen, outside of the regions of this one: the
    /// threads ran side by side. Threads of one name become one.  [local]
    /// @pre  the other thread is at rest, had the same clock, and was not merged before
    void merge(const Profiler& other);
    /// [local]
    [[nodiscard]] ProfileOfThread profile() const;

private:
    struct Times {
        std::uint64_t calls = 0;
        double inclusive_s = 0;
    };
    struct Open {
        std::size_t place = 0;
        double start_s = 0;
    };
    void begin(std::string_view name);
    void end();
    [[nodiscard]] NameTree<Times> up_to(double now) const;

    Clock x_now;
    std::size_t x_most_events = 0;
    NameTree<Times> x_regions;
    std::vector<Open> x_open;  ///< innermost last; none: off
    RegionEvents x_events;     ///< regions by their place in the tree
    std::uint64_t x_threads = 1;
};

}  // namespace tailrace::server
