// SPDX-License-Identifier: Apache-2.0
#include "core/time_lines.hpp"

#include <algorithm>
#include <set>

#include "core/known_phases.hpp"

namespace tailrace::core {

namespace {

constexpr std::size_t most_in_all = 4096;  // stretches of a Record: about 120 KB
constexpr std::size_t most_of_one = 512;   // more than a picture of usual width can show

/// At most `most` of `from`, evenly spread, the first and the last among them.
void add_some(const std::vector<int>& from, std::size_t most, std::set<int>& to) {
    if (from.empty() || most == 0) return;
    const std::size_t count = std::min(from.size(), most);
    for (std::size_t k = 0; k < count; ++k)
        to.insert(from[count == 1 ? 0 : k * (from.size() - 1) / (count - 1)]);
}

}  // namespace

std::vector<int> ranks_to_show(std::span<const double> busy_s,
                               std::span<const WriterReport> writers, std::size_t most) {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < busy_s.size(); ++rank) all.push_back(static_cast<int>(rank));
    if (all.size() <= most) return all;
    const auto [least, greatest] = std::minmax_element(busy_s.begin(), busy_s.end());
    std::set<int> chosen{static_cast<int>(least - busy_s.begin()),
                         static_cast<int>(greatest - busy_s.begin())};
    std::vector<int> wrote;
    for (const WriterReport& one : writers)
        if (one.total.write.bytes_done > 0) wrote.push_back(one.rank);
    std::sort(wrote.begin(), wrote.end());
    add_some(wrote, most / 2, chosen);
    std::erase_if(all, [&](int rank) { return chosen.contains(rank); });
    add_some(all, most - std::min(most, chosen.size()), chosen);
    return {chosen.begin(), chosen.end()};
}

std::size_t most_stretches(std::size_t ranks) noexcept {
    return std::min(most_of_one, most_in_all / std::max<std::size_t>(ranks, 1));
}

double busy_s(const std::map<std::string, PhaseTime>& times) {
    double sum_s = 0;
    for (const auto& [name, time] : times) {
        const auto use = use_of(name);
        if (use != PhaseUse::waiting && use != PhaseUse::off_clock) sum_s += time.elapsed_s;
    }
    return sum_s;
}

TimeLinesRecord joined(std::vector<SentLine> lines) {
    std::map<std::string, double> began_s;
    for (const SentLine& sent : lines)
        for (const Stretch& one : sent.line.stretches) {
            const std::string& name = sent.names.at(one.phase);
            const auto [at, fresh] = began_s.emplace(name, one.start_s);
            if (!fresh) at->second = std::min(at->second, one.start_s);
        }
    TimeLinesRecord record;
    for (const auto& entry : began_s) record.phases.push_back(entry.first);
    std::stable_sort(
        record.phases.begin(), record.phases.end(),
        [&](const std::string& a, const std::string& b) { return began_s.at(a) < began_s.at(b); });
    for (SentLine& sent : lines) {
        for (Stretch& one : sent.line.stretches) {
            const auto place =
                std::find(record.phases.begin(), record.phases.end(), sent.names.at(one.phase));
            one.phase = static_cast<std::uint32_t>(place - record.phases.begin());
        }
        record.lines.push_back(std::move(sent.line));
    }
    return record;
}

}  // namespace tailrace::core
