// SPDX-License-Identifier: Apache-2.0
// Which implementation of MPI-IO: 77.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

/// Seconds that a rank spends in writes of MPI-IO on average.
double write_s_of_rank(const Subject& s) {
    return s.file.mpiio->writes->elapsed_s.value_or(0) / static_cast<double>(file_ranks(s));
}

/// Ranks whose system calls wrote; absent where those are not recorded, or of so many ranks that a
/// profile does not keep each.
Count writers(const Subject& s) {
    if (s.file.writers || !s.file.posix || !s.file.posix->writes) return s.file.writers;
    const auto& ranges = s.file.posix->writes->ranges;
    if (ranges.size() >= most_ranges) return std::nullopt;
    const auto found = std::ranges::count_if(ranges, [](const ByteRange& one) {
        return one.bytes > 0;  // of a single process there are no ranges
    });
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(found), 1);
}

std::optional<Reason> other_fires(const Subject& s) {
    if (mpi_io(s) != MpiIo::ompio || file_ranks(s) < 2) return std::nullopt;
    const std::uint64_t count = mpiio_calls(s.file.mpiio->writes).together;
    if (count == 0 || s.file.written_as_asked.value_or(false)) return std::nullopt;
    constexpr double least_share = 0.02;  // of the run: less is no more than noise
    const double write_s = write_s_of_rank(s), run_s = s.profile.run.elapsed_s.value_or(0);
    if (write_s < least_share * run_s) return std::nullopt;
    const Count wrote = writers(s);
    Reason reason{
        say(count, " collective writes of ", size(bytes_written(s)), " through OMPIO, ",
            seconds(write_s), " of each rank on average",
            wrote ? say("; below it ", *wrote, " of ", counted(file_ranks(s), "rank"), " wrote all")
                  : ""),
        {}};
    reason.note("mpiio.collective_writes", count, "calls")
        .note("file.ranks", file_ranks(s), "ranks")
        .note("mpiio.write_s_of_a_rank", write_s, "s");
    if (wrote) reason.note("file.writers", *wrote, "ranks");
    return reason;
}

std::optional<Held> other_held(const Subject& s) {
    const std::string& command = s.profile.origin.command;
    for (const std::string_view option : {"-mca io ", "-omca io ", "-gmca io "})
        if (command.find(option) != std::string::npos)
            return Held{Guard::program, say("the command line chooses by itself, with -",
                                            option.substr(0, option.size() - 1))};
    return std::nullopt;
}

Proposal other_act(const Subject&) { return {.environment = {{"OMPI_MCA_io", "^ompio"}}}; }

const std::array mpi_io_table{
    Rule{"77",
         "The other MPI-IO of Open MPI",
         Scope::file,
         Class::collective,
         "collective writes of several ranks through OMPIO, in which a rank spends a fiftieth of "
         "the run or more; not if each rank was counted to write what it had asked for, in no more "
         "system calls",
         "the command line does not choose by itself (--mca io)",
         "OMPI_MCA_io: ^ompio, which is ROMIO under the name that this Open MPI has for it "
         "(romio321 in 4.1, romio341 in 5.0)",
         "blocks that do not interleave are written by each rank, and not sent to one; blocks that "
         "do are collected, and not written piece by piece",
         "Y",
         {},
         other_fires,
         other_held,
         other_act},
};

}  // namespace

std::span<const Rule> mpi_io_rules() { return mpi_io_table; }

}  // namespace tailrace::intent::rules
