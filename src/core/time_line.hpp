// SPDX-License-Identifier: Apache-2.0
// When one rank was in which phase, in memory that does not grow with the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::core {

/// Some time of one rank in one phase, without the phases nested inside; seconds from a start.
struct Stretch {
    std::uint32_t phase = 0;  ///< place in a list of names
    double start_s = 0, end_s = 0;
    std::uint64_t joined = 1;  ///< of how many it was made
};

/// The stretches of one rank in the order of time. They never overlap; between them the rank was in
/// no phase. Where there are too many, short ones that follow each other are joined: those of the
/// same phase to one of the same sum, laid side by side from where the first one began.
class TimeLine {
public:
    static constexpr std::size_t most_kept = 4096;  ///< stretches; when full some are joined

    /// From now on stretches are kept. Until then turn() does nothing.  [local]
    /// @param origin_s  of now_s(): from where times are counted
    void begin(double origin_s);
    /// The rank leaves the phase that it was in for this one; empty: for none.  [local]
    /// @param now  of now_s(), not before the last one
    void turn(std::string_view phase, double now);
    /// Joins stretches until at most `most` are left, or one for each phase.  [local]
    void coarsen(std::size_t most);

    [[nodiscard]] bool begun() const noexcept { return x_begun; }  ///< [local]
    [[nodiscard]] const std::vector<Stretch>& stretches() const noexcept {
        return x_stretches;
    }  ///< [local]
    /// Names by Stretch::phase.  [local]
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return x_names; }
    /// No stretch lies further than this from where it was, in seconds; 0 where none was joined.
    /// [local]
    [[nodiscard]] double resolution_s() const noexcept { return x_resolution_s; }

private:
    std::uint32_t place_of(std::string_view phase);
    void join_within(double width_s);

    bool x_begun = false, x_inside = false;
    double x_origin_s = 0, x_since_s = 0;
    std::uint32_t x_phase = 0;
    double x_width_s = 0;  ///< of the last joining: the next one is no finer
    double x_resolution_s = 0;
    std::vector<std::string> x_names;
    std::vector<Stretch> x_stretches;
};

}  // namespace tailrace::core
