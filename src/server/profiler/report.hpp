// SPDX-License-Identifier: Apache-2.0
// The profiles of all ranks as a table, as JSON and as a trace that Chrome and Perfetto show.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"
#include "server/profiler/profiler.hpp"

namespace tailrace::server {

inline constexpr std::string_view profile_schema = "tailrace-server-profile/1";

/// A region over ranks. Means are over the ranks that have the outermost region around it, so that
/// they add up: a rank that has that one and not this one spent no time here.
struct RegionOfRanks {
    std::vector<std::string> path;                        ///< from the outermost region to this one
    std::uint64_t ranks = 0;                              ///< that were in it
    std::uint64_t calls = 0;                              ///< of all ranks
    double inclusive_s = 0, exclusive_s = 0;              ///< means
    double inclusive_percent = 0, exclusive_percent = 0;  ///< of the outermost region
    /// Of the ranks that were in it; the lowest rank of several.
    double max_exclusive_s = 0, min_exclusive_s = 0;
    std::uint64_t max_rank = 0, min_rank = 0;
};

/// The events of one rank; they refer to ProfileOfRanks::regions.
struct RankEvents {
    RegionEvents events;
    double met_s = 0;  ///< the moment at which all ranks met, on the clock of this one
};

struct ProfileOfRanks {
    std::uint64_t ranks = 0;             ///< of the communicator
    std::vector<RegionOfRanks> regions;  ///< each before those within it
    std::vector<RankEvents> events;      ///< one per rank
};

/// Events of all ranks together in a trace; each rank may have an equal part.
inline constexpr std::size_t most_events_of_ranks = std::size_t{1} << 18U;

/// The profile of all ranks on rank 0, nothing elsewhere. Ranks may differ in their regions, and be
/// off.  [collective]
/// @param now     the clock of the Profilers
/// @param events  most of all ranks; every rank keeps at least one
/// @throws core::Error on all ranks
[[nodiscard]] std::optional<ProfileOfRanks> gather(const comm::Comm& comm, const Profiler& profiler,
                                                   const Profiler::Clock& now = core::now_s,
                                                   std::size_t events = most_events_of_ranks);

/// A line per region; "--" per region around it. Columns grow with what they hold.  [local]
[[nodiscard]] std::string table(const ProfileOfRanks& profile, std::string_view title);
/// A document of the schema profile_schema, with a line end.  [local]
[[nodiscard]] std::string json_text(const ProfileOfRanks& profile);
/// Trace events "X": pid is the rank, tid the thread; microseconds from the first event. What was
/// left out stands under otherData.  [local]
[[nodiscard]] std::string trace_text(const ProfileOfRanks& profile);
/// Writes BASE.txt (the table), BASE.json and BASE.trace.json on rank 0, each whole; older ones are
/// replaced. [collective]
/// @throws core::Error on all ranks
void write_files(const comm::Comm& comm, const std::optional<ProfileOfRanks>& profile,
                 const std::filesystem::path& base);

}  // namespace tailrace::server
