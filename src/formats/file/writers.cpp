// SPDX-License-Identifier: Apache-2.0
#include "formats/file/writers.hpp"

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "core/known_phases.hpp"

namespace tailrace::formats {

using core::FileTally;
using core::WriterReport;

namespace {

// A message is a row of records of fixed size: the total under the empty name, then the phases.
struct NamedTally {
    std::array<char, 32> name{};
    FileTally tally;
};
static_assert(std::is_trivially_copyable_v<NamedTally>);

NamedTally named(std::string_view name, const FileTally& tally) {
    NamedTally one;
    std::memcpy(one.name.data(), name.data(), std::min(name.size(), one.name.size() - 1));
    one.tally = tally;
    return one;
}

std::vector<std::byte> to_bytes(const WriterReport& report) {
    std::vector<NamedTally> rows{named("", report.total)};
    for (const auto& [name, tally] : report.by_phase) rows.push_back(named(name, tally));
    const auto bytes = std::as_bytes(std::span(rows));
    return {bytes.begin(), bytes.end()};
}

WriterReport from_bytes(int rank, const std::vector<std::byte>& bytes) {
    WriterReport report;
    report.rank = rank;
    for (std::size_t at = 0; at + sizeof(NamedTally) <= bytes.size(); at += sizeof(NamedTally)) {
        NamedTally row;
        std::memcpy(static_cast<void*>(&row), bytes.data() + at, sizeof row);
        if (at == 0)
            report.total = row.tally;
        else
            report.by_phase[row.name.data()] = row.tally;
    }
    return report;
}

std::uint64_t data_bytes(const WriterReport& report) {
    std::uint64_t bytes = report.total.write.bytes_done;
    for (const auto& [phase, tally] : report.by_phase) {
        const auto use = core::use_of(phase);
        if (use == core::PhaseUse::opening || use == core::PhaseUse::describing)
            bytes -= tally.write.bytes_done;
    }
    return bytes;
}

struct RankBytes {
    std::uint64_t asked, done;
};

/// "rank 3 (asked 4096, wrote 0)", the ranks that fall short first; at most 4 of them.
std::string list_short_ranks(const std::vector<RankBytes>& all) {
    std::string text;
    std::size_t found = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (all[r].done >= all[r].asked || ++found > 4) continue;
        text += (text.empty() ? "" : ", ") + ("rank " + std::to_string(r)) + " asked " +
                std::to_string(all[r].asked) + " and wrote " + std::to_string(all[r].done);
    }
    return found > 4 ? text + " and " + std::to_string(found - 4) + " more ranks" : text;
}

}  // namespace

std::optional<WriterReport> my_writer_report(int rank,
                                             const std::vector<std::filesystem::path>& files,
                                             const core::Phases& phases) {
    const core::IoObserver* observer = core::io_observer();
    if (observer == nullptr) return std::nullopt;
    std::set<std::string> names;  // a phase that still lasts has no time yet
    for (const core::KnownPhase& known : core::known_phases)
        if (known.use != core::PhaseUse::off_clock) names.emplace(known.name);
    for (const auto& [name, time] : phases.times()) names.insert(name);
    WriterReport report;
    report.rank = rank;
    for (const auto& file : files) {
        report.total += observer->tally(file);
        for (const std::string& name : names) {
            const FileTally tally = observer->tally(file, name);
            if (tally.write.calls + tally.read.calls > 0) report.by_phase[name] += tally;
        }
    }
    return report;
}

void gather_writers(const comm::Comm& comm, const std::optional<WriterReport>& mine,
                    core::FileReport& report) {
    const auto all = comm.gather(mine ? to_bytes(*mine) : std::vector<std::byte>{});
    report.writers_measured = comm.min(std::uint64_t{mine ? 1u : 0u}) == 1;
    if (!report.writers_measured) return;
    for (std::size_t r = 0; r < all.size(); ++r)
        report.writers.push_back(from_bytes(static_cast<int>(r), all[r]));
}

void check_bytes_below(const comm::Comm& comm, const std::filesystem::path& file,
                       std::uint64_t asked, const std::optional<WriterReport>& mine) {
    if (comm.min(std::uint64_t{mine ? 1u : 0u}) == 0) return;
    const RankBytes bytes{asked, data_bytes(*mine)};
    std::array<std::uint64_t, 2> sums{bytes.asked, bytes.done};
    comm.reduce(sums, comm::Reduce::sum);
    if (sums[1] >= sums[0]) return;
    const auto all = comm.gather_value(bytes);
    std::optional<core::Error> lost;
    // One text for all: only rank 0 knows who fell short.
    if (comm.rank() == 0)
        lost = core::Error(core::Code::data_lost,
                           "data was lost below the library: " + std::to_string(sums[0]) +
                               " bytes asked, " + std::to_string(sums[1]) +
                               " bytes written by all ranks (" + list_short_ranks(all) + ")",
                           file.string(),
                           "free space there, or write to another file system; nothing was "
                           "published");
    comm.agree(lost);
}

}  // namespace tailrace::formats
