// SPDX-License-Identifier: Apache-2.0
// Summed over the files of a run, each of which is too little for a rule of its own: 69 to 71.
#include <algorithm>
#include <array>
#include <map>

#include "intent/rules/plain.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr std::uint64_t several = 2;  ///< files: of a single one rules 61 and 65 speak

// --- 69: small calls -----------------------------------------------------------------------------
struct SmallOfRun {
    std::uint64_t calls = 0, small = 0, bytes = 0, files = 0, most = 0;
    std::uint64_t bound = 0, least_bound = 0;  ///< of what is small, where file systems differ
    bool others = false;                       ///< some calls are left out
    const File* first = nullptr;               ///< the file with the most
};

SmallOfRun small_of_run(const Profile& profile) {
    SmallOfRun all;
    for (const File& file : profile.files) {
        const Subject one{profile, file};
        std::uint64_t few = 0;
        for (const Direction direction : {Direction::reads, Direction::writes}) {
            const PlainCalls calls = plain_calls(one, direction);
            if (calls.calls == 0) continue;
            if (collective_above(one, direction) || small_in_file(one, calls)) {
                all.others = true;
                continue;
            }
            all.calls += calls.calls;
            all.bytes += calls.bytes;
            few += calls.small;
        }
        if (few == 0) continue;
        ++all.files;
        all.small += few;
        const std::uint64_t bound = small_bytes(one);
        all.bound = std::max(all.bound, bound);
        all.least_bound = all.least_bound == 0 ? bound : std::min(all.least_bound, bound);
        if (few <= all.most) continue;
        all.most = few;
        all.first = &file;
    }
    return all;
}

std::optional<Reason> small_run_fires(const Subject& s) {
    const SmallOfRun all = small_of_run(s.profile);
    if (all.files < several || all.small < enough_calls || all.small * 10 < all.calls)
        return std::nullopt;
    std::string bound = size(all.least_bound);
    if (all.bound > all.least_bound)
        bound += say(", or ", size(all.bound), " on a parallel file system,");
    Reason reason{
        say(all.small, " of ", all.calls, " system calls that read or write (",
            percent(share(all.small, all.calls)), ") have at most ", bound, ", in ", all.files,
            " files", all.others ? " (without those of rule 61, and below collective calls)" : "",
            "; a call moves ", size(all.bytes / all.calls), " on average; the most in one file, ",
            all.most, ", in ", all.first->path),
        {}};
    return reason.note("run.small_calls", all.small, "calls")
        .note("run.calls", all.calls, "calls")
        .note("run.files_with_small_calls", all.files, "files")
        .note("run.small_calls_of_a_file", all.most, "calls");
}

Proposal small_run_act(const Subject&) {
    return advice(
        "move more at a time: gather what is written in a buffer of at least 1 MiB, read a file "
        "in blocks and take the pieces from memory, and put what belongs together into fewer "
        "files");
}

// --- 70: metadata --------------------------------------------------------------------------------
struct TimeOfRun {
    Times all;
    std::uint64_t opens = 0, files = 0;
    double most_s = 0;
    bool others = false;          ///< rule 65 speaks of some
    const File* first = nullptr;  ///< the file with the most
    ProcessSet processes;
    std::map<std::uint64_t, Times> own;  ///< by process: of files that it alone uses
};

TimeOfRun time_of_run(const Profile& profile) {
    TimeOfRun run;
    for (const File& file : profile.files) {
        const Subject one{profile, file};
        const Times times = times_of(one);
        run.processes.add(file.processes);
        if (metadata_in_file(one)) {
            run.others = true;
            continue;
        }
        run.all.add(times);
        if (file.processes.size() == 1) run.own[file.processes.ranges()[0].first].add(times);
        if (times.metadata_s <= 0) continue;
        ++run.files;
        for (const auto* layer : {&file.posix, &file.stdio})
            if (*layer) run.opens += (*layer)->opens.value_or(0);
        if (times.metadata_s <= run.most_s) continue;
        run.most_s = times.metadata_s;
        run.first = &file;
    }
    return run;
}

/// Who spends the time: the processes on average, or one of them in files of its own.
struct Spent {
    Times times;
    std::optional<std::uint64_t> process;
};

std::optional<Spent> spent(const TimeOfRun& run, const Profile& profile) {
    const auto processes = static_cast<double>(std::max<std::uint64_t>(run.processes.size(), 1));
    const Times each{run.all.metadata_s / processes, run.all.data_s / processes};
    if (long_in_metadata(each, profile)) return Spent{each, {}};
    const auto most = std::max_element(
        run.own.begin(), run.own.end(),
        [](const auto& a, const auto& b) { return a.second.metadata_s < b.second.metadata_s; });
    if (most == run.own.end() || !long_in_metadata(most->second, profile)) return std::nullopt;
    return Spent{most->second, most->first};
}

std::optional<Reason> time_run_fires(const Subject& s) {
    const TimeOfRun run = time_of_run(s.profile);
    const auto found = spent(run, s.profile);
    if (run.files < several || !found) return std::nullopt;
    const std::string who =
        found->process ? say("by process ", *found->process, " in files that it alone uses")
        : run.processes.size() > 1
            ? say("by each of ", run.processes.size(), " processes, on average")
            : "by one process";
    Reason reason{say(in_metadata(found->times, s.profile), ", ", who, "; ", run.files, " files",
                      run.others ? ", without those of rule 65," : "", " are opened ", run.opens,
                      " times; the most for one file, ", seconds(run.most_s), " of ",
                      seconds(run.all.metadata_s), ", for ", run.first->path),
                  {}};
    return reason.note("run.metadata_s", run.all.metadata_s, "s")
        .note("run.data_s", run.all.data_s, "s")
        .note("run.opens", run.opens, "calls")
        .note("run.files", run.files, "files");
}

Proposal time_run_act(const Subject&) {
    return advice(
        "open each file once and keep it open, put what belongs together into fewer files, and "
        "spread those over folders: each open and close is a question to the file system, on a "
        "parallel one to a server that answers one after the other");
}

// --- 71: files of one process each, of unlike size -----------------------------------------------
/// What a process moves in files that it alone uses, and how long that takes.
struct Own {
    std::uint64_t bytes = 0;
    double time_s = 0;
};

struct OwnOfRun {
    std::map<std::uint64_t, Own> processes;
    std::uint64_t most = 0;  ///< the process that takes the longest
    Own mean;                ///< of the others
};

OwnOfRun own_of_run(const Profile& profile) {
    OwnOfRun run;
    for (const File& file : profile.files) {
        if (file.processes.size() != 1) continue;
        Own& own = run.processes[file.processes.ranges()[0].first];
        const Times times = times_of({profile, file});
        own.time_s += times.metadata_s + times.data_s;
        for (const auto* layer : {&file.posix, &file.stdio}) {
            if (!*layer) continue;
            for (const auto* side : {&(*layer)->reads, &(*layer)->writes})
                if (*side) own.bytes += (*side)->bytes.value_or(0);
        }
    }
    if (run.processes.size() < 2) return run;
    const std::uint64_t others = run.processes.size() - 1;
    const auto slower = [](const auto& a, const auto& b) {
        return a.second.time_s < b.second.time_s;
    };
    run.most = std::max_element(run.processes.begin(), run.processes.end(), slower)->first;
    for (const auto& [process, own] : run.processes) {
        if (process == run.most) continue;
        run.mean.bytes += own.bytes / others;
        run.mean.time_s += own.time_s / static_cast<double>(others);
    }
    return run;
}

std::optional<Reason> own_fires(const Subject& s) {
    const OwnOfRun run = own_of_run(s.profile);
    // One that alone has files of its own is a writer for the others.
    if (run.processes.size() < 2 || run.processes.size() * 2 < ranks(s)) return std::nullopt;
    const Own& most = run.processes.at(run.most);
    const double run_s = s.profile.run.elapsed_s.value_or(0);
    if (most.time_s < 1 || most.time_s * 100 < run_s || most.time_s < 2 * run.mean.time_s ||
        most.bytes < 2 * run.mean.bytes)
        return std::nullopt;
    Reason reason{say("in files that it alone uses process ", run.most, " moves ", size(most.bytes),
                      " in ", seconds(most.time_s), ", ", run.processes.size() - 1,
                      run.processes.size() == 2 ? " other " : " others ", size(run.mean.bytes),
                      " in ", seconds(run.mean.time_s), " each, on average"),
                  {}};
    return reason.note("process.bytes", most.bytes, "bytes")
        .note("process.time_s", most.time_s, "s")
        .note("others.bytes", run.mean.bytes, "bytes")
        .note("others.time_s", run.mean.time_s, "s");
}

Proposal own_act(const Subject&) {
    return advice(
        "give the ranks alike much to read and write: all wait for the one that has most; or write "
        "one file together, in which others can take a part of it");
}

const std::array run_table{
    Rule{"69",
         "Small reads and writes in many files",
         Scope::run,
         Class::advice,
         "at least 1000 system calls of at most 10 KiB (1 MiB on a parallel file system), a tenth "
         "of all, in at least two files, without those of rule 61",
         "",
         "advice: move more at a time, in fewer files",
         "fewer calls",
         "S",
         {},
         small_run_fires,
         nullptr,
         small_run_act},
    Rule{"70",
         "Opens and similar calls of many files take longer than the data",
         Scope::run,
         Class::advice,
         "30 s of a process and more, or 1 s and a tenth of the run, and more than reads and "
         "writes take; in at least two files, without those of rule 65",
         "",
         "advice: open once, fewer files",
         "less waiting for the file system",
         "S",
         {},
         time_run_fires,
         nullptr,
         time_run_act},
    Rule{"71",
         "Files of one process each, of different size",
         Scope::run,
         Class::advice,
         "at least half of the ranks have files of their own, and in them one takes twice as long "
         "as the others on average, for twice as many bytes, at least 1 s, a hundredth of the run",
         "",
         "advice: give all ranks the same amount",
         "ranks end at the same time",
         "S",
         {},
         own_fires,
         nullptr,
         own_act},
};

}  // namespace

std::span<const Rule> run_rules() { return run_table; }

}  // namespace tailrace::intent::rules
