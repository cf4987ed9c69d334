// SPDX-License-Identifier: Apache-2.0
// What the statistics on pairs and on unpaired runs share; for statistics*.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/splitmix.hpp"
#include "core/statistics.hpp"

namespace tailrace::core::statistics_parts {

[[noreturn]] void bad(const std::string& message, const std::string& remedy);
void check_finite(std::span<const double> values);
void check_positive(std::span<const double> values, const std::string& whose);
void check_bootstrap(const Bootstrap& how);

[[nodiscard]] std::vector<double> sorted_copy(std::span<const double> values);
[[nodiscard]] double percentile_of_sorted(std::span<const double> sorted, double percent);
[[nodiscard]] double median_in_place(std::vector<double>& values);

/// Twice the rank of each value, counted from 1 (ties share the mean rank, which may end in a
/// half).  [local]
[[nodiscard]] std::vector<std::size_t> doubled_ranks(const std::vector<double>& values);

/// The middle `level` of resampled logarithms of ratios, as ratios; sorts them.  [local]
[[nodiscard]] Interval middle_of_logs(std::vector<double>& logs, double level);

/// "3 %" for 0.03.  [local]
[[nodiscard]] std::string percent_text(double share);

/// splitmix64: the same numbers on every machine and with every standard library.
class Generator {
public:
    explicit Generator(std::uint64_t seed) : x_state(seed) {}
    std::uint64_t next() { return mixed(x_state += splitmix_step); }
    /// 0 .. n-1; the bias of the product method is below n / 2^64.
    std::size_t below(std::size_t n) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::size_t>((Wide{next()} * n) >> 64);
    }

private:
    std::uint64_t x_state;
};

}  // namespace tailrace::core::statistics_parts
