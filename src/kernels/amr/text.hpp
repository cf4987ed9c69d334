// SPDX-License-Identifier: Apache-2.0
// What the program prints: the lines of the original, and its tables of timers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kernels/amr/inputs.hpp"
#include "runner/figures.hpp"

namespace tailrace::kernels::amr {

/// "128 x 128 x 128 cells".  [local]
[[nodiscard]] std::string cells_text(const Mesh& mesh);
[[nodiscard]] std::string echo_text(const Inputs& inputs, const Mesh& mesh,
                                    std::uint64_t particles);  ///< [local]
/// The original's lines of times for the file that all ranks share, each the longest of any rank;
/// docs/user/amr.md says what each covers.  [local]
[[nodiscard]] std::string shared_text(const Inputs& inputs, const runner::Figures& figures);

/// The two tables of AMReX's TinyProfiler, over what really ran, and then the bandwidths.
class Profile {
public:
    void begin(double start_s) { x_start_s = start_s; }
    // Of this rank.  [local]
    void add_shared(const std::string& format, const runner::Figures& figures);
    void add_native(const runner::Figures& figures, bool particles);
    /// The tables since the last ones; starts anew.  [collective]
    [[nodiscard]] std::string text(const comm::Comm& comm);

private:
    /// Seconds in a timer, and in those of them that have no row of their own.
    void add(const std::string& name, std::uint64_t calls, double inclusive, double exclusive);

    double x_start_s = 0;
    std::string x_bandwidths;
    runner::Laps x_inclusive, x_exclusive;
};

}  // namespace tailrace::kernels::amr
