// SPDX-License-Identifier: Apache-2.0
// How a file is used below its format, and by whom: 60, 64 to 68. Only the program can change it.
#include <algorithm>
#include <array>

#include "intent/rules/plain.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

// --- 60: ranks that have more to do, or take longer ----------------------------------------------
struct Uneven {
    Extreme fastest, slowest;
    double bytes = 0, time = 0;  ///< by how much one is below the other
};

std::optional<Uneven> uneven(const Subject& s) {
    if (!s.file.posix || !s.file.posix->fastest || !s.file.posix->slowest) return std::nullopt;
    Uneven found{*s.file.posix->fastest, *s.file.posix->slowest};
    const double fast_s = found.fastest.elapsed_s.value_or(0),
                 slow_s = found.slowest.elapsed_s.value_or(0);
    if (slow_s < 1) return std::nullopt;
    found.time = 1 - fast_s / slow_s;
    if (found.fastest.bytes && found.slowest.bytes)
        found.bytes =
            1 - share(std::min(*found.fastest.bytes, *found.slowest.bytes),
                      std::max<std::uint64_t>({*found.fastest.bytes, *found.slowest.bytes, 1}));
    constexpr double much = 0.15;
    return std::max(found.time, found.bytes) > much ? std::optional(found) : std::nullopt;
}

std::string of_rank(const Extreme& one) {
    return say("rank ", one.process, " took ", fraction(one.elapsed_s.value_or(0)), " s",
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

Proposal uneven_act(const Subject& s) {
    return advice(
        uneven(s)->bytes > 0.15
            ? "give the ranks alike much to read and write, or let collective calls share "
              "it out: all wait for the one that has most"
            : "alike much takes some ranks longer: look at their nodes, their targets (lfs "
              "getstripe), and at who waits for a lock on a shared block");
}

// --- 64: nothing collective ----------------------------------------------------------------------
std::optional<Reason> alone_fires(const Subject& s) {
    const std::uint64_t alone = mpiio_calls(s, false), together = mpiio_calls(s, true);
    if (datasets_known(s) || file_ranks(s) < 2 || alone < enough_calls || together >= alone)
        return std::nullopt;
    std::uint64_t bytes = 0;
    for (const auto* side : {&s.file.mpiio->reads, &s.file.mpiio->writes})
        if (*side) bytes += (*side)->bytes.value_or(0);
    if (bytes / (alone + together) >= 4 * mib) return std::nullopt;
    Reason reason{say(alone, " calls of MPI-IO by ", file_ranks(s), " ranks are independent and ",
                      together, " collective, ", size(bytes / (alone + together)), " on average"),
                  {}};
    return reason.note("mpiio.independent_calls", alone, "calls")
        .note("mpiio.collective_calls", together, "calls");
}

Proposal alone_act(const Subject& s) {
    return advice(
        s.file.hdf5 ? "transfer collectively (H5Pset_dxpl_mpio), where all ranks make the call"
                    : "use the calls that end in _all, where all ranks make them: a few ranks then "
                      "write large pieces for the others");
}

// --- 65: metadata --------------------------------------------------------------------------------
double metadata_s(const Subject& s) {
    return s.file.posix ? s.file.posix->metadata_s.value_or(0) : 0;
}

std::optional<Reason> metadata_fires(const Subject& s) {
    if (!s.file.posix) return std::nullopt;
    double data_s = 0;
    for (const auto* side : {&s.file.posix->reads, &s.file.posix->writes})
        if (*side) data_s += (*side)->elapsed_s.value_or(0);
    const double each_s = metadata_s(s) / static_cast<double>(processes_of(s));
    if (each_s < 30 || metadata_s(s) < data_s) return std::nullopt;
    Reason reason{
        say(fraction(each_s), " s of a process go into opens, closes, seeks and the like (",
            s.file.posix->opens.value_or(0), " opens), ",
            fraction(data_s / static_cast<double>(processes_of(s))), " s into data"),
        {}};
    return reason.note("posix.metadata_s", metadata_s(s), "s").note("posix.data_s", data_s, "s");
}

Proposal metadata_act(const Subject&) {
    return advice(
        "open files once and by few ranks (one reads and sends it to the others), keep them open, "
        "and spread files over folders: the metadata server answers one after the other");
}

// --- 66: the same bytes again --------------------------------------------------------------------
std::optional<Reason> again_fires(const Subject& s) {
    if (!s.file.posix || !s.file.posix->reads) return std::nullopt;
    const PosixTransfers& reads = *s.file.posix->reads;
    const std::uint64_t bytes = reads.bytes.value_or(0);
    if (!reads.highest_byte || bytes < 64 * mib) return std::nullopt;
    const std::uint64_t end = *reads.highest_byte + 1;
    if (bytes / end < 2) return std::nullopt;
    Reason reason{
        say(size(bytes), " are read of the first ", size(end), " of the file, by ",
            processes_of(s) == 1 ? std::string("one process") : say(processes_of(s), " processes"),
            ": each byte about ", bytes / end, " times"),
        {}};
    return reason.note("posix.bytes_read", bytes, "bytes").note("posix.read_end", end, "bytes");
}

Proposal again_act(const Subject& s) {
    return advice(
        processes_of(s) > 1
            ? "let one rank of each node read it and share it (MPI_Bcast, shared memory), "
              "or read collectively"
            : "keep what was read in memory, or read larger blocks and pick from them");
}

// --- 67: opened again and again ------------------------------------------------------------------
std::uint64_t opens_of_each(const Subject& s) {
    std::uint64_t opens = 0;
    if (s.file.hdf5)
        opens = s.file.hdf5->opens.value_or(0);
    else if (s.file.mpiio)
        opens = s.file.mpiio->collective_opens.value_or(0) +
                s.file.mpiio->independent_opens.value_or(0);
    else if (s.file.posix)
        opens = s.file.posix->opens.value_or(0);
    return opens / processes_of(s);
}

std::optional<Reason> file_reopened_fires(const Subject& s) {
    if (opens_of_each(s) < enough_calls) return std::nullopt;
    const std::uint64_t bytes = bytes_read(s) + bytes_written(s);
    Reason reason{say("a process opens it ", opens_of_each(s), " times, and moves ",
                      size(bytes / opens_of_each(s) / processes_of(s)), " each time"),
                  {}};
    return reason.note("file.opens_of_a_process", opens_of_each(s), "calls");
}

Proposal file_reopened_act(const Subject& s) {
    return advice(
        s.file.hdf5 ? "keep the file open, and flush where others have to see it: each open reads "
                      "its metadata anew, each close writes it"
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
         "Ranks have unlike much to do",
         Scope::file,
         Class::advice,
         "the slowest rank of a file takes 1 s and more, and the fastest 15 % less, or one moves "
         "15 % less than the other",
         "no collective calls above",
         "advice: share it out",
         "ranks end at the same time",
         "S",
         {},
         uneven_fires,
         below_collective,
         uneven_act},
    Rule{
        "64",
        "MPI-IO without collective calls",
        Scope::file,
        Class::advice,
        "1000 and more independent calls below 4 MiB by two ranks and more, most of all, of a file "
        "of which no dataset is known",
        "",
        "advice: collective calls",
        "a few ranks write large pieces",
        "S",
        {},
        alone_fires,
        nullptr,
        alone_act},
    Rule{"65",
         "Opens and the like take longer than the data",
         Scope::file,
         Class::advice,
         "30 s of each process and more, and more than reads and writes take",
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
         "64 MiB and more, at least twice as much as lies before the last byte read",
         "no collective calls above",
         "advice: read once and share",
         "fewer reads",
         "S",
         {},
         again_fires,
         below_collective,
         again_act},
    Rule{"67",
         "A file opened again and again",
         Scope::file,
         Class::advice,
         "each process opens it 1000 times and more",
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
         "64 MiB and more in a new file, of which 1.8 times as much is written below, where fill "
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
