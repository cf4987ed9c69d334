// SPDX-License-Identifier: Apache-2.0
#include "runner/time_lines.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tailrace::runner {

namespace {

using core::Stretch;

/// Ranks in a form that travels.
std::string text_of(const std::vector<int>& ranks) {
    std::string text;
    for (const int rank : ranks) text += std::to_string(rank) + ' ';
    return text;
}

std::vector<int> ranks_of(const std::string& text) {
    std::vector<int> ranks;
    std::istringstream words(text);
    for (int rank = 0; words >> rank;) ranks.push_back(rank);
    return ranks;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<Stretch> stretches_of(const std::vector<std::byte>& bytes) {
    static_assert(std::is_trivially_copyable_v<Stretch>);
    std::vector<Stretch> stretches(bytes.size() / sizeof(Stretch));
    if (!stretches.empty()) std::memcpy(stretches.data(), bytes.data(), bytes.size());
    return stretches;
}

}  // namespace

Clocks begin_lines(const comm::Comm& comm, core::Phases& phases) {
    const comm::Comm node = comm.split_node();
    const bool one = comm.sum(std::uint64_t{node.rank() == 0 ? 1U : 0U}) == 1;
    comm.barrier();
    const double first_s = core::now_s();
    comm.barrier();  // all ranks come to it together: how long it takes is how far they are apart
    const double second_s = core::now_s();
    Clocks clocks{one, comm.max(second_s - first_s)};
    if (one) clocks.uncertainty_s = 0;
    const double origin_s = node.min(second_s);
    comm.agree_on([&] { phases.begin_line(origin_s); });  // there may be no memory for it
    return clocks;
}

std::optional<core::TimeLinesRecord> gathered_lines(const comm::Comm& comm,
                                                    const core::Phases& phases,
                                                    const Clocks& clocks,
                                                    std::span<const core::WriterReport> writers) {
    const std::vector<double> busy = comm.gather_value(core::busy_s(phases.times()));
    const std::vector<int> shown =
        ranks_of(comm.broadcast(text_of(core::ranks_to_show(busy, writers))));
    const double end_s =
        phases.line().stretches().empty() ? 0 : phases.line().stretches().back().end_s;
    core::TimeLine mine;
    std::string names;
    const auto failed = comm::Comm::caught([&] {  // the run counts without its lines, too
        if (std::find(shown.begin(), shown.end(), comm.rank()) != shown.end()) mine = phases.line();
        mine.coarsen(core::most_stretches(shown.size()));
        for (const std::string& name : mine.names()) names += name + '\n';
    });
    const bool kept = phases.line().begun() && !failed;
    if (comm.min(std::uint64_t{kept ? 1U : 0U}) == 0) return std::nullopt;
    const auto all_names = comm.gather_text(names);
    const auto all_stretches = comm.gather(std::as_bytes(std::span(mine.stretches())));
    const auto resolutions = comm.gather_value(mine.resolution_s());
    const double elapsed_s = comm.max(end_s);
    std::vector<core::SentLine> sent;
    for (const int rank : comm.rank() == 0 ? shown : std::vector<int>{}) {
        const auto at = static_cast<std::size_t>(rank);
        sent.push_back({{rank, resolutions.at(at), stretches_of(all_stretches.at(at))},
                        lines_of(all_names.at(at))});
    }
    core::TimeLinesRecord record = core::joined(std::move(sent));
    record.elapsed_s = elapsed_s;
    record.one_clock = clocks.one;
    record.clock_uncertainty_s = clocks.uncertainty_s;
    return record;
}

}  // namespace tailrace::runner
