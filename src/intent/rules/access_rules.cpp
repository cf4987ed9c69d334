// SPDX-License-Identifier: Apache-2.0
// How a file is used below its format, and by whom: 60, 64 to 68. Only the program can change it.
#include <algorithm>
#include <array>

#include "intent/rules/plain.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

Times times_of(const Subject& s) {
    Times times;
    for (const auto* layer : {&s.file.posix, &s.file.stdio}) {
        if (!*layer) continue;
        times.metadata_s += (*layer)->metadata_s.value_or(0);
        for (const auto* side : {&(*layer)->reads, &(*layer)->writes})
            if (*side) times.data_s += (*side)->elapsed_s.value_or(0);
    }
    return times;
}

bool long_in_metadata(const Times& each, const Profile& profile) {
    const double run_s = profile.run.elapsed_s.value_or(0);
    const bool of_the_run = run_s > 0 && each.metadata_s >= 1 && each.metadata_s * 10 >= run_s;
    return (each.metadata_s >= 30 || of_the_run) && each.metadata_s > each.data_s;
}

std::string in_metadata(const Times& each, const Profile& profile) {
    const double run_s = profile.run.elapsed_s.value_or(0);
    const std::string part = run_s <= 0 ? ""
                             : each.metadata_s <= run_s
                                 ? say(" (", percent(each.metadata_s / run_s), " of the run)")
                                 : say(" (of several threads: the run took ", seconds(run_s), ")");
    return say(seconds(each.metadata_s), part, " go into opens, closes, seeks and similar calls, ",
               seconds(each.data_s), " into data");
}

namespace {

using plan::Class;

// --- 60: ranks that have more to do, or take longer ----------------------------------------------
struct Uneven {
    Extreme fastest, slowest;
    double bytes = 0, time = 0;  ///< by how much one is below the other
};

constexpr double much = 0.15;

std::optional<Uneven> uneven(const Subject& s) {
    if (!s.file.posix || !s.file.posix->fastest || !s.file.posix->slowest) return std::nullopt;
    Uneven found{*s.file.posix->fastest, *s.file.posix->slowest};
    const double fast_s = found.fastest.elapsed_s.value_or(0),
                 slow_s = found.slowest.elapsed_s.value_or(0);
    // Of one process Darshan has a shared record too, where the run has no other.
    if (processes_of(s) < 2 || slow_s < 1) return std::nullopt;
    if (slow_s * 100 < s.profile.run.elapsed_s.value_or(0)) return std::nullopt;
    found.time = 1 - fast_s / slow_s;
    if (found.fastest.bytes && found.slowest.bytes)
        found.bytes =
            1 - share(std::min(*found.fastest.bytes, *found.slowest.bytes),
                      std::max<std::uint64_t>({*found.fastest.bytes, *found.slowest.bytes, 1}));
    return std::max(found.time, found.bytes) > much ? std::optional(found) : std::nullopt;
}

std::string of_rank(const Extreme& one) {
    return say("rank ", one.process, " took ", seconds(one.elapsed_s.value_or(0)),
               one.bytes ? " for " + size(*one.bytes) : "");
}

std::optional<Reason> uneven_fires(const Subject& s) {
    const auto found = uneven(s);
    if (!found) return std::nullopt;
    Reason reason{say(of_rank(found->slowest), ", ", of_rank(found->fastest), ": ",
                      percent(found->time), " apart in time, ", percent(found->bytes), " in bytes"),
                  {}};
    return reason.note("posix.slowest_s", found->slowest.elapsed_s.value_or(0), "s")
        .note("posix.fastest_s", found->fastest.elapsed_s.value_or(0), "s")
        .note("posix.slowest_bytes", found->slowest.bytes.value_or(0), "bytes")
        .note("posix.fastest_bytes", found->fastest.bytes.value_or(0), "bytes");
}

std::optional<Held> uneven_held(const Subject& s) {
    return collective_above(s) ? std::optional(below_collective(s)) : std::nullopt;
}

Proposal uneven_act(const Subject& s) {
    const Uneven found = *uneven(s);
    return advice(
        found.bytes > much && *found.slowest.bytes > *found.fastest.bytes
            ? "give all ranks the same amount to read and write, or let collective calls "
              "balance it: all ranks wait for the one that has most"
            : "some ranks take longer for no more bytes: look at their nodes, their targets (lfs "
              "getstripe), and at who waits for a lock on a shared block");
}

// --- 64: nothing collective ----------------------------------------------------------------------
/// The direction with more independent calls that could be collective.
struct Alone {
    std::string_view word;
    MpiioCalls calls;
    std::uint64_t bytes = 0;
};

Alone most_alone(const Subject& s) {
    Alone worst;
    if (!s.file.mpiio) return worst;
    for (const auto* side : {&s.file.mpiio->reads, &s.file.mpiio->writes}) {
        const MpiioCalls calls = mpiio_calls(*side);
        if (calls.alone < enough_calls || calls.together >= calls.alone) continue;
        const std::uint64_t bytes = (*side)->bytes.value_or(0) / (calls.alone + calls.together);
        if (bytes < 4 * mib && calls.alone > worst.calls.alone)
            worst = {side == &s.file.mpiio->reads ? "read" : "write", calls, bytes};
    }
    return worst;
}

std::optional<Reason> alone_fires(const Subject& s) {
    const Alone found = most_alone(s);
    if (datasets_tell(s) || file_ranks(s) < 2 || found.calls.alone == 0) return std::nullopt;
    Reason reason{say(found.calls.alone, " calls of MPI-IO that ", found.word, ", by ",
                      file_ranks(s), " ranks, are independent and ", found.calls.together,
                      " collective, ", size(found.bytes), " on average"),
                  {}};
    return reason.note("mpiio.independent_calls", found.calls.alone, "calls")
        .note("mpiio.collective_calls", found.calls.together, "calls");
}

/// Whether the program asks for collective transfers of each of its datasets, as a log tells it.
bool asks_for_collective(const Subject& s) {
    return !s.file.datasets.empty() &&
           std::all_of(s.file.datasets.begin(), s.file.datasets.end(),
                       [](const Dataset& one) { return one.requested_collective.value_or(false); });
}

Proposal alone_act(const Subject& s) {
    if (asks_for_collective(s))
        return advice(
            "collective transfers are asked for already: these calls are HDF5's own. Where they "
            "move data it could not do what was asked, for example since types differ in memory "
            "and file (H5Pget_mpio_no_collective_cause says why); its descriptions one rank can "
            "read for all, and all can write together (H5Pset_all_coll_metadata_ops, "
            "H5Pset_coll_metadata_write)");
    return advice(
        s.file.hdf5 ? "transfer collectively (H5Pset_dxpl_mpio), where all ranks make the call"
                    : "use the calls that end in _all, where all ranks make them: a few ranks then "
                      "move large pieces for the others");
}

// --- 65: metadata --------------------------------------------------------------------------------
/// Of each of its processes, on average.
Times times_of_each(const Subject& s) {
    const Times all = times_of(s);
    const auto processes = static_cast<double>(processes_of(s));
    return {all.metadata_s / processes, all.data_s / processes};
}

}  // namespace

bool metadata_in_file(const Subject& s) { return long_in_metadata(times_of_each(s), s.profile); }

namespace {

std::optional<Reason> metadata_fires(const Subject& s) {
    if (!metadata_in_file(s)) return std::nullopt;
    const Times all = times_of(s);
    std::uint64_t opens = 0;
    for (const auto* layer : {&s.file.posix, &s.file.stdio})
        if (*layer) opens += (*layer)->opens.value_or(0);
    Reason reason{
        say(in_metadata(times_of_each(s), s.profile),
            processes_of(s) > 1 ? say(", of each of ", processes_of(s), " processes, on average; ")
                                : std::string("; "),
            "it is opened ", opens, opens == 1 ? " time" : " times"),
        {}};
    return reason.note("posix.metadata_s", all.metadata_s, "s")
        .note("posix.data_s", all.data_s, "s");
}

Proposal metadata_act(const Subject&) {
    return advice(
        "open files once and by few ranks (one reads and sends it to the others), keep them open, "
        "and spread files over folders: the metadata server answers one after the other");
}

// --- 66: the same bytes again --------------------------------------------------------------------
struct Again {
    std::uint64_t bytes = 0, end = 0;
};

std::optional<Again> again(const Subject& s) {
    if (!s.file.posix || !s.file.posix->reads || !s.file.posix->reads->highest_byte)
        return std::nullopt;
    Again found{s.file.posix->reads->bytes.value_or(0), *s.file.posix->reads->highest_byte + 1};
    // What MPI-IO reads by itself, for its sieves, the program did not ask for.
    if (s.file.mpiio && s.file.mpiio->writes)
        found.bytes =
            std::min(found.bytes, s.file.mpiio->reads ? s.file.mpiio->reads->bytes.value_or(0) : 0);
    const std::uint64_t written =
        s.file.posix->writes ? s.file.posix->writes->bytes.value_or(0) : 0;
    // What was written anew in between is not the same.
    const std::uint64_t versions = std::max<std::uint64_t>(written / found.end, 1);
    if (found.bytes < 64 * mib || found.bytes / found.end < 2 * versions) return std::nullopt;
    return found;
}

std::optional<Reason> again_fires(const Subject& s) {
    const auto found = again(s);
    if (!found) return std::nullopt;
    Reason reason{
        say(size(found->bytes), " are read of the first ", size(found->end), " of the file, by ",
            processes_of(s) == 1 ? std::string("one process") : say(processes_of(s), " processes"),
            ": each byte ", found->bytes / found->end, " times or more, on average"),
        {}};
    return reason.note("posix.bytes_read", found->bytes, "bytes")
        .note("posix.read_end", found->end, "bytes");
}

std::optional<Held> again_held(const Subject& s) {
    if (!collective_above(s, Direction::reads)) return std::nullopt;
    return below_collective(s);
}

Proposal again_act(const Subject& s) {
    return advice(
        processes_of(s) > 1
            ? "let one rank of each node read it and share it (MPI_Bcast, shared memory), "
              "or read collectively"
            : "keep what was read in memory, or read larger blocks and pick from them");
}

// --- 67: opened again and again ------------------------------------------------------------------
/// Of the layer that the program calls: opens, and bytes in both directions.
struct Opened {
    std::uint64_t opens = 0, bytes = 0;
};

Opened opened(const Subject& s) {
    const std::uint64_t bytes = bytes_read(s) + bytes_written(s);
    if (s.file.hdf5 && s.file.hdf5->opens) return {*s.file.hdf5->opens, bytes};
    if (s.file.mpiio)
        return {s.file.mpiio->collective_opens.value_or(0) +
                    s.file.mpiio->independent_opens.value_or(0),
                bytes};
    Opened most;
    for (const auto* layer : {&s.file.posix, &s.file.stdio}) {
        if (!*layer || (*layer)->opens.value_or(0) <= most.opens) continue;
        most = {*(*layer)->opens, 0};
        for (const auto* side : {&(*layer)->reads, &(*layer)->writes})
            if (*side) most.bytes += (*side)->bytes.value_or(0);
    }
    return most;
}

std::uint64_t opens_of_each(const Subject& s) { return opened(s).opens / processes_of(s); }

/// Of a file that describes itself; more than that is worth the way there.
constexpr std::uint64_t opens_of_library = 20, moved_by_open = 4 * mib;

std::optional<Reason> file_reopened_fires(const Subject& s) {
    const Opened found = opened(s);
    const bool described = s.file.hdf5 || s.file.pnetcdf;
    const std::uint64_t enough =
        described && found.bytes / std::max<std::uint64_t>(found.opens, 1) < moved_by_open
            ? opens_of_library
            : enough_calls;
    if (opens_of_each(s) < enough) return std::nullopt;
    Reason reason{
        say(processes_of(s) > 1 ? "on average a process opens it " : "it is opened ",
            opens_of_each(s), " times, and moves ", size(found.bytes / found.opens), " each time"),
        {}};
    if (s.file.pnetcdf && s.file.mpiio && s.file.mpiio->reads)
        reason.text += say(", reads of its header among them (", size(bytes_read(s)), " read)");
    return reason.note("file.opens_of_a_process", opens_of_each(s), "calls");
}

/// As pandas names what a frame consists of.
bool of_pandas(const Subject& s) {
    return std::ranges::any_of(s.file.datasets, [](const Dataset& one) {
        return one.path.ends_with("/axis0") || one.path.ends_with("/block0_values");
    });
}

Proposal file_reopened_act(const Subject& s) {
    if (s.file.hdf5)
        return advice(
            say("keep the file open, and flush where others have to see it: each open reads its "
                "metadata anew, each close writes it",
                of_pandas(s) ? " (pandas: one HDFStore, and its put for each key, instead of "
                               "to_hdf or read_hdf)"
                             : ""));
    return advice(s.file.pnetcdf
                      ? "keep the file open from step to step, and call ncmpi_sync where "
                        "others have to see it: each open reads the header anew"
                      : "keep the file open between accesses");
}

// --- 68: everything written twice ----------------------------------------------------------------
struct Twice {
    std::uint64_t asked = 0, done = 0;
};

Twice written_twice(const Subject& s) {
    Twice found;
    for (const Dataset& dataset : s.file.datasets) {
        // Where it is known, rules 20 and 59 look at each dataset.
        if (dataset.fill || !dataset.filters.empty()) return {};
        found.asked += moved_bytes(dataset.writes);
    }
    if (s.file.mpiio && s.file.mpiio->writes)
        found.done = s.file.mpiio->writes->bytes.value_or(0);
    else if (s.file.posix && s.file.posix->writes)
        found.done = s.file.posix->writes->bytes.value_or(0);
    return found;
}

std::optional<Reason> twice_fires(const Subject& s) {
    const Twice found = written_twice(s);
    if (!created(s) || found.asked < 64 * mib || found.done / 9 * 5 < found.asked)
        return std::nullopt;
    Reason reason{say("HDF5 was asked to write ", size(found.asked), " and wrote ",
                      size(found.done), s.file.mpiio ? " through MPI-IO" : "",
                      ": as if a new dataset were filled first, and then written"),
                  {}};
    return reason.note("file.dataset_bytes_written", found.asked, "bytes")
        .note("file.bytes_written_below", found.done, "bytes");
}

Proposal twice_act(const Subject&) {
    return advice(
        "where every element is written, leave out the fill values: H5Pset_fill_time(list, "
        "H5D_FILL_TIME_NEVER). A profile taken by tailrace says whether they are written, and "
        "whether all is written over");
}

const std::array access_table{
    Rule{"60",
         "Some ranks have more to do than others",
         Scope::file,
         Class::advice,
         "the slowest rank of a file takes at least 1 s, a hundredth of the run, and the fastest "
         "15 % less, or one moves 15 % less than the other",
         "most calls above are not collective",
         "advice: give all ranks the same amount",
         "ranks end at the same time",
         "S",
         {},
         uneven_fires,
         uneven_held,
         uneven_act},
    Rule{
        "64",
        "MPI-IO without collective calls",
        Scope::file,
        Class::advice,
        "at least 1000 independent calls below 4 MiB by at least two ranks, most of all that read, "
        "or that write; not of a profile of our own that knows datasets",
        "",
        "advice: collective calls",
        "a few ranks write large pieces",
        "S",
        {},
        alone_fires,
        nullptr,
        alone_act},
    Rule{"65",
         "Opens and similar calls take longer than the data",
         Scope::file,
         Class::advice,
         "at least 30 s of each process, or 1 s and a tenth of the run, and more time than reads "
         "and writes take",
         "",
         "advice: open once and by few",
         "less load on the metadata server",
         "S",
         {},
         metadata_fires,
         nullptr,
         metadata_act},
    Rule{"66",
         "The same bytes read again",
         Scope::file,
         Class::advice,
         "at least 64 MiB, at least twice as much as lies before the last byte read, and twice for "
         "each time that this was written; without what MPI-IO reads by itself to write",
         "most reads above are not collective",
         "advice: read once and share",
         "fewer reads",
         "S",
         {},
         again_fires,
         again_held,
         again_act},
    Rule{"67",
         "A file opened again and again",
         Scope::file,
         Class::advice,
         "each process opens it at least 1000 times; 20 times, if it is of HDF5 or PnetCDF and an "
         "open moves less than 4 MiB",
         "",
         "advice: keep it open",
         "metadata is read and written once",
         "T",
         {},
         file_reopened_fires,
         nullptr,
         file_reopened_act},
    Rule{"68",
         "Everything is written twice",
         Scope::file,
         Class::advice,
         "at least 64 MiB in a new file, of which 1.8 times as much is written below, where fill "
         "values and filters are not known",
         "",
         "advice: no fill values",
         "half of the bytes",
         "A",
         {},
         twice_fires,
         nullptr,
         twice_act},
};

}  // namespace

std::span<const Rule> access_rules() { return access_table; }

}  // namespace tailrace::intent::rules
