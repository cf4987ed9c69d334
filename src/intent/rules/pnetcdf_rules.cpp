// SPDX-License-Identifier: Apache-2.0
// Rules of PnetCDF, set through its environment variable: 49 to 52; its aggregators: 53; its calls:
// 73.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr const char* variable = "PNETCDF_HINTS";

Proposal hints(std::string text) { return {.environment = {{variable, std::move(text)}}}; }

std::uint64_t alignment(const Subject& s) {
    return std::clamp<std::uint64_t>(fs_block(s).value_or(64 * kib), 64 * kib, 16 * mib);
}

std::optional<Reason> header_fires(const Subject& s) {
    if (!s.file.pnetcdf) return std::nullopt;
    const std::uint64_t redefinitions = s.file.pnetcdf->redefinitions.value_or(0);
    const std::uint64_t variables = s.file.datasets.size();
    if (redefinitions == 0 && variables < 100) return std::nullopt;
    Reason reason{say(redefinitions, " redefinitions and ", variables,
                      " variables: a header that grows moves all data behind it"),
                  {}};
    return reason.note("pnetcdf.redefinitions", redefinitions, "calls")
        .note("file.variables", variables, "variables");
}

/// All of it is part of the file, however short the header is: no more than a quarter.
std::uint64_t header_alignment(const Subject& s) {
    std::uint64_t bytes = alignment(s);
    while (bytes / 2 >= 64 * kib && plan::times(bytes, 4) > bytes_at_end(s)) bytes /= 2;
    return bytes;
}

Proposal header_act(const Subject& s) {
    return hints(say("nc_header_align_size=", header_alignment(s)));
}

std::optional<Reason> variables_fires(const Subject& s) {
    if (!s.file.pnetcdf) return std::nullopt;
    std::uint64_t large = 0;
    for (const Dataset& dataset : s.file.datasets)
        if (size_bytes(dataset).value_or(0) >= 4 * mib && !extendible(dataset)) ++large;
    const Count waits[] = {s.file.pnetcdf->collective_waits, s.file.pnetcdf->independent_waits};
    const bool deferred = waits[0].value_or(0) + waits[1].value_or(0) > 0;
    if (large == 0 || deferred) return std::nullopt;
    const bool blocking = waits[0] && waits[1];
    Reason reason{say(large, " fixed variables of at least 4 MiB",
                      blocking ? ", written by blocking calls" : ""),
                  {}};
    return reason.note("file.large_variables", large, "variables");
}

std::uint64_t variable_alignment(const Subject& s) {
    return std::max<std::uint64_t>(alignment(s), mib);
}

/// PnetCDF up to 1.12 aligns the small ones too: before each there may be a gap of as much, and
/// where the format has offsets of 32 bits the program can no longer define them.
std::optional<Held> variables_held(const Subject& s) {
    if (!s.file.pnetcdf->collective_waits || !s.file.pnetcdf->independent_waits)
        return Held{
            Guard::evidence,
            "it is not known whether the program waits for non-blocking calls, whose data is "
            "better left without gaps: a Darshan log with its PnetCDF module says so"};
    std::uint64_t fixed = 0, bytes = 0;
    for (const Dataset& dataset : s.file.datasets) {
        bytes += size_bytes(dataset).value_or(0);
        if (!extendible(dataset)) ++fixed;
    }
    const std::uint64_t gaps = plan::times(fixed, variable_alignment(s));
    if (plan::times(gaps, 4) <= bytes) return std::nullopt;
    return Held{Guard::size,
                say("each of the ", fixed, " fixed variables would begin at a multiple of ",
                    size(variable_alignment(s)), ": up to ", size(gaps), " of gaps in a file of ",
                    size(bytes))};
}

Proposal variables_act(const Subject& s) {
    return hints(say("nc_var_align_size=", variable_alignment(s)));
}

std::optional<Reason> burst_fires(const Subject& s) {
    if (!s.file.pnetcdf) return std::nullopt;
    const std::uint64_t waits = s.file.pnetcdf->collective_waits.value_or(0) +
                                s.file.pnetcdf->independent_waits.value_or(0);
    std::uint64_t puts = 0;
    for (const Dataset& dataset : s.file.datasets) puts += calls(dataset.writes);
    const std::uint64_t bytes = bytes_written(s);
    if (waits == 0 || puts < 10000 || bytes / puts >= 64 * kib) return std::nullopt;
    Reason reason{
        say(puts, " writes of ", size(bytes / puts), " on average, with ", waits, " waits"), {}};
    return reason.note("pnetcdf.writes", puts, "calls").note("pnetcdf.waits", waits, "calls");
}

std::string local_folder(const Subject& s) {
    for (const FileSystem& system : s.profile.run.file_systems)
        if (system.folder.find("/local") != std::string::npos ||
            system.folder.find("nvme") != std::string::npos)
            return system.folder;
    return "";
}

std::optional<Held> burst_held(const Subject& s) {
    if (local_folder(s).empty())
        return Held{Guard::file_system, "no file system local to the nodes was seen for the log"};
    return std::nullopt;
}

Proposal burst_act(const Subject& s) {
    return hints(say("nc_burst_buf=enable;nc_burst_buf_dirname=", local_folder(s)));
}

std::optional<Reason> subfiles_fires(const Subject& s) {
    if (!s.file.pnetcdf || file_ranks(s) < 1024 || bytes_written(s) < 100 * gib)
        return std::nullopt;
    Reason reason{say(file_ranks(s), " ranks write ", size(bytes_written(s)), " into one file"),
                  {}};
    return reason.note("file.ranks", file_ranks(s), "ranks")
        .note("file.bytes_written", bytes_written(s), "bytes");
}

Proposal subfiles_act(const Subject& s) {
    return hints(say("pnetcdf_subfiling=enable;nc_num_subfiles=",
                     std::clamp<std::uint64_t>(nodes(s), 2, 64)));
}

std::optional<Reason> aggregators_fires(const Subject& s) {
    if (!s.file.pnetcdf || s.file.pnetcdf->creates.value_or(0) == 0 || mpiio_calls(s, true) < 100 ||
        nodes(s) < 2)
        return std::nullopt;
    Reason reason{say(mpiio_calls(s, true), " collective calls", on_nodes(s), " below PnetCDF"),
                  {}};
    return reason.note("mpiio.collective_calls", mpiio_calls(s, true), "calls");
}

/// A hint of the file, which the hook holds back under OMPIO; PNETCDF_HINTS would go there too.
Proposal aggregators_act(const Subject& s) {
    return {.settings = {
                {std::string(plan::hint_prefix) + "cb_nodes", Setting(say(aggregators(s))), {}}}};
}

// --- 73: puts that do not wait for each other ----------------------------------------------------
struct Puts {
    std::uint64_t calls = 0, bytes = 0;
};

/// Below PnetCDF each put that waits is a call of MPI-IO; those that are completed together are
/// one.
Puts puts_of(const Subject& s) {
    Puts found;
    for (const Dataset& dataset : s.file.datasets) {
        found.calls += calls(dataset.writes);
        found.bytes += moved_bytes(dataset.writes);
    }
    if (found.calls > 0 || !s.file.mpiio || !s.file.mpiio->writes) return found;
    const auto [alone, together] = mpiio_calls(s.file.mpiio->writes);
    return {alone + together, s.file.mpiio->writes->bytes.value_or(0)};
}

/// Calls of PnetCDF are in Darshan's logs; the hook of MPI-IO is below it.
bool waits_are_counted(const Subject& s) {
    return s.file.pnetcdf->collective_waits && s.file.pnetcdf->independent_waits;
}

std::optional<Reason> puts_fires(const Subject& s) {
    if (!s.file.pnetcdf) return std::nullopt;
    const std::uint64_t waits = s.file.pnetcdf->collective_waits.value_or(0) +
                                s.file.pnetcdf->independent_waits.value_or(0);
    const Puts puts = puts_of(s);
    const std::uint64_t each = puts.calls / std::max<std::uint64_t>(s.file.processes.size(), 1);
    if (waits > 0 || each < 100 || puts.bytes / puts.calls >= 64 * kib) return std::nullopt;
    Reason reason{
        say("a process makes ", each, " writes of ", size(puts.bytes / puts.calls), " on average",
            waits_are_counted(s)
                ? ", and no wait for several of them"
                : " below PnetCDF. Its own calls were not seen: a write is either one "
                  "put, or all that one wait completes"),
        {}};
    return reason.note("pnetcdf.writes", puts.calls, "calls")
        .note("pnetcdf.bytes_written", puts.bytes, "bytes");
}

Proposal puts_act(const Subject& s) {
    return advice(say(
        waits_are_counted(s) ? "" : "if the program waits for each put (ncmpi_put_vara_all): ",
        "begin the writes of a step without waiting (ncmpi_iput_vara and the like; ncmpi_bput_vara "
        "after ncmpi_buffer_attach where the memory is used again), and complete them together "
        "with one ncmpi_wait_all, which all ranks call"));
}

const std::array pnetcdf_table{
    Rule{"49",
         "Room for the header",
         Scope::file,
         Class::layout,
         "PnetCDF enters define mode again, or there are at least 100 variables",
         "",
         "PNETCDF_HINTS: nc_header_align_size, the block of the file system, within a quarter of "
         "the file, from 64 KiB on",
         "no data moves when the header grows",
         "P",
         {.created = true, .keys = "hint.nc_header_align_size"},
         header_fires,
         nullptr,
         header_act},
    Rule{"50",
         "Large variables begin at stripes",
         Scope::file,
         Class::layout,
         "fixed variables of at least 4 MiB, written by blocking calls",
         "counted: no waits for non-blocking calls; a gap of an alignment before each fixed "
         "variable would be no more than a quarter of the file",
         "PNETCDF_HINTS: nc_var_align_size, the stripe, at least 1 MiB",
         "fewer conflicts of locks",
         "P",
         {.created = true, .keys = "hint.nc_var_align_size"},
         variables_fires,
         variables_held,
         variables_act},
    Rule{"51",
         "A log on the node for small writes",
         Scope::file,
         Class::opt_in,
         "at least 10000 non-blocking writes below 64 KiB on average",
         "a file system local to the node",
         "PNETCDF_HINTS: nc_burst_buf, nc_burst_buf_dirname",
         "small writes are logged, and written together later",
         "P",
         {.delays = true, .keys = "hint.nc_burst_buf"},
         burst_fires,
         burst_held,
         burst_act},
    Rule{"52",
         "Several files instead of one",
         Scope::file,
         Class::opt_in,
         "at least 1024 ranks write at least 100 GiB into one file",
         "",
         "PNETCDF_HINTS: pnetcdf_subfiling, nc_num_subfiles; a PnetCDF built with it",
         "less contention; the file becomes several",
         "P",
         {.created = true, .keys = "hint.pnetcdf_subfiling"},
         subfiles_fires,
         nullptr,
         subfiles_act},
    Rule{"53",
         "An aggregator per node or stripe below PnetCDF",
         Scope::file,
         Class::safe,
         "at least 100 collective calls below PnetCDF on several nodes",
         "",
         "hint cb_nodes: the nodes, at most the stripes",
         "aggregators that do not share a target",
         "P",
         {.keys = "hint.cb_nodes", .aggregators = true},
         aggregators_fires,
         nullptr,
         aggregators_act},
    Rule{"73",
         "Puts that are completed together",
         Scope::file,
         Class::advice,
         "at least 100 writes of a process with PnetCDF, below 64 KiB on average, and no waits for "
         "non-blocking calls; only logs of Darshan hold waits: in a profile of tailrace a write "
         "may be many puts that were completed together, and the advice says so",
         "",
         "advice: iput or bput, and one wait for all of a step",
         "one collective call of MPI-IO for a step, instead of one for each write",
         "P",
         {},
         puts_fires,
         nullptr,
         puts_act},
};

}  // namespace

std::span<const Rule> pnetcdf_rules() { return pnetcdf_table; }

}  // namespace tailrace::intent::rules
