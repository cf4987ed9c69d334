// SPDX-License-Identifier: Apache-2.0
// Keys of the parts of a Record. Internal to src/core.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/json/fields.hpp"
#include "core/record.hpp"

namespace tailrace::core::parts {

using json::Json, json::KeyRule, json::limited, json::Listed;

inline constexpr KeyRule of_any_sign = limited(R"({"minimum": null})");
inline constexpr KeyRule cache_states = limited(R"({"enum": ["warm", "dropped", "unknown"]})");

/// An arm of the limit beside its kernel.
struct ComparedArm {
    LimitArm arm;
    std::optional<double> ratio;
};
struct ComparedLimit {
    std::vector<std::string> order;
    Listed<ComparedArm> arms;
};

template <class T>
std::optional<T> only_if(bool known, const T& value) {
    return known ? std::optional(value) : std::nullopt;
}

inline std::optional<double> rate(std::uint64_t bytes, double seconds, bool valid = true) {
    return valid && seconds > 0 ? std::optional(static_cast<double>(bytes) / seconds)
                                : std::nullopt;
}

inline Listed<std::uint64_t> by_size(const CallTally& tally) {
    Listed<std::uint64_t> classes;
    for (std::size_t k = 0; k < CallTally::size_classes; ++k)
        if (tally.by_size[k] > 0)
            classes.emplace_back(std::to_string(std::uint64_t{1} << k), tally.by_size[k]);
    return classes;
}

inline std::map<std::string, FileTally> with_calls(
    const std::map<std::string, FileTally>& by_phase) {
    std::map<std::string, FileTally> kept;
    for (const auto& [phase, tally] : by_phase)
        if (tally.write.calls > 0) kept.emplace(phase, tally);
    return kept;
}

/// A time to the nanosecond: shorter than with all its digits.
inline double in_ns(double seconds) { return std::round(seconds * 1e9) / 1e9; }

inline Json in_ns(const std::vector<Stretch>& stretches) {
    Json list = Json::array();
    for (const Stretch& one : stretches) {
        list.push_back({one.phase, in_ns(one.start_s), in_ns(one.end_s)});
        if (one.joined > 1) list.back().push_back(one.joined);
    }
    return list;
}

}  // namespace tailrace::core::parts

namespace tailrace::json {

using namespace core;
using namespace core::parts;

template <>
struct Names<VerificationStatus> {
    static constexpr std::pair<VerificationStatus, std::string_view> all[] = {
        {VerificationStatus::not_run, "not_run"},
        {VerificationStatus::passed, "passed"},
        {VerificationStatus::failed, "failed"},
    };
};

template <>
struct Names<LimitArm::Against> {
    static constexpr std::pair<LimitArm::Against, std::string_view> all[] = {
        {LimitArm::Against::durable, "durable"},
        {LimitArm::Against::aggregate, "aggregate"},
        {LimitArm::Against::write, "write"},
    };
};

template <>
struct Fields<Error> {
    static constexpr std::string_view name = "error";
    static constexpr std::string_view sentence = "Why it failed.";
    static Error example() { return {Code::internal, ""}; }
    static void visit(auto& v, auto& s) {
        v("code", std::string(core::name(s.code())), "Kind of failure, for example no_space.");
        v("message", s.message(), "What happened.");
        v("where", s.where(), "File, line, object or key; may be empty.");
        v("remedy", s.remedy(), "The next step; may be empty.");
        v("exit_code", exit_code(s.code()), "Exit status of the program: 1 to 4.",
          limited(R"({"minimum": 1, "maximum": 4})"));
        v("rank", s.rank(), "First rank that saw it; -1 where not known.",
          limited(R"({"minimum": -1})"));
        v("failed_ranks", s.failed_ranks(), "Ranks that saw it; 0: not agreed.");
        v("total_ranks", s.total_ranks(), "Ranks that agreed; 0: not agreed.");
    }
};

template <>
struct Fields<Context> {
    static constexpr std::string_view name = "context";
    static void visit(auto& v, auto& s) {
        v("host", s.host, "Name of the host of rank 0.");
        v("os_kernel", s.os_kernel, "Operating system kernel, release and machine.");
        v("cores", s.cores, "Processors of the machine that are online.");
        v("load_1m", s.load_1m, "Load average over one minute, at the start.");
        v("memory_bytes", s.memory.total_bytes, "Memory of the machine, in bytes.");
        v("memory_available_bytes", s.memory.available_bytes,
          "Memory available at the start, in bytes.");
        v("page_cache_bytes", s.memory.page_cache_bytes, "Page cache at the start, in bytes.");
        v("dirty_bytes", s.memory.dirty_bytes,
          "Dirty pages and pages in writeback at the start, in bytes.");
        v("file_system", s.file_system.type, "Type of the output's file system.");
        v("mount_point", s.file_system.mount_point, "Where it is mounted.");
        v("mount_options", s.file_system.mount_options, "Its mount options, comma separated.");
        v("file_system_source", s.file_system.source, "Device or server behind it.");
        v("file_system_free_bytes", s.file_system.free_bytes,
          "Free for this user at the start, in bytes.");
        v("file_system_total_bytes", s.file_system.total_bytes,
          "Size of the file system, in bytes.");
        v("striping", s.striping,
          "Striping in force, where the file system tells; empty: not measured.");
        v("mpi_library", s.mpi_library, "MPI library and version; empty: none.");
        v("mpi_io", s.mpi_io, "MPI-IO implementation; empty: none.");
        v("hdf5_version", s.hdf5_version, "HDF5 version; empty: none.");
        v("compiler", s.compiler, "Compiler that built Tailrace.");
        v("tailrace_version", s.tailrace_version, "Version of Tailrace.");
        v("commit", s.commit,
          "Commit it was built from; \"unknown\" outside a checkout, with \"-dirty\" for local "
          "changes.");
        v("ranks", s.ranks, "MPI ranks.");
        v("nodes", s.nodes, "Nodes.");
        v("ranks_per_node", s.ranks_per_node, "Ranks on the fullest node.");
        v("command", s.command,
          "Command line of rank 0, with *** in place of what looks like a secret.");
        v("environment", s.environment,
          "Variables that steer MPI, HDF5, threads and Tailrace, and chosen ones of batch systems; "
          "none whose name or value looks like a secret.");
    }
};

template <>
struct Fields<Spread> {
    static constexpr std::string_view name = "spread";
    static constexpr std::string_view sentence = "One quantity over ranks.";
    static void visit(auto& v, auto& s) {
        v("min", s.min, "Smallest over ranks.");
        v("mean", s.mean, "Mean over ranks.");
        v("max", s.max, "Greatest over ranks.");
    }
};

template <>
struct Fields<PhaseRecord> {
    static constexpr std::string_view name = "phase";
    static constexpr std::string_view sentence = "Over ranks.";
    static void visit(auto& v, auto& s) {
        v("min_s", s.elapsed_s.min, "Shortest, in seconds.");
        v("mean_s", s.elapsed_s.mean, "Mean, in seconds.");
        v("max_s", s.elapsed_s.max, "Longest, in seconds.");
        v("path_s", s.path_s,
          "Of the rank that the others waited for (the least time in agree), until the file had "
          "its name; null where it had none, or the rank was not in the phase.",
          later);
        v("entries", s.entries, "How often it was entered; greatest over ranks.");
    }
};

template <>
struct Fields<StepRecord> {
    static constexpr std::string_view name = "step";
    static void visit(auto& v, auto& s) {
        v("step", s.step, "Number of the step; of several: of the first.");
        v("steps", only_if(s.count != 1, s.count),
          "Consecutive steps that this entry stands for; absent: one. Then min and max are over "
          "ranks and these steps, mean is that of one step.",
          {KeyRule::Presence::absent, R"({"minimum": 2})"});
        v("write_s", s.write_s, "Seconds in write calls, over ranks.");
        v("sync_s", s.sync_s, "Seconds in the sync after the step; absent without one.", absent);
        v("compute_s", s.compute_s, "Seconds of emulated computation; absent without.", absent);
        v("stall_s", s.stall_s,
          "Seconds in all calls of the step, those that create and end its file included; absent "
          "in "
          "Records without serving.",
          absent);
    }
};

template <>
struct Fields<FileTally> {
    static constexpr std::string_view name = "phase_tally";
    static constexpr std::string_view sentence = "System calls of one rank in one phase.";
    static void visit(auto& v, auto& s) {
        v("calls", s.write.calls, "Calls that returned.");
        v("bytes_asked", s.write.bytes_asked, "Sum of the lengths given, in bytes.");
        v("bytes_done", s.write.bytes_done, "Sum of the return values, in bytes.");
        v("read_calls", s.read.calls,
          "Calls that read, of the same file; while data is written they tell of "
          "read-modify-write. Absent in older Records.",
          later);
        v("read_bytes", s.read.bytes_done, "What they read, in bytes. Absent in older Records.",
          later);
    }
};

template <>
struct Fields<WriterReport> {
    static constexpr std::string_view name = "writer";
    static constexpr std::string_view sentence =
        "What one rank asked of the kernel and what it did, for this file.";
    static void visit(auto& v, auto& s) {
        const FileTally& total = s.total;
        const CallTally& calls = total.write;
        v("rank", s.rank, "Rank in the communicator of the run.");
        v("bytes_given", s.bytes_given,
          "Bytes of data that the kernel gave this rank to write; null where it is not known, "
          "absent in Records of older versions.",
          later);
        v("calls", calls.calls, "Write calls that returned, failed ones included.");
        v("bytes_asked", calls.bytes_asked, "Sum of the lengths given, in bytes.");
        v("bytes_done", calls.bytes_done, "Sum of the return values, in bytes.");
        v("failed_calls", calls.failed_calls, "Calls that returned an error, interruptions apart.");
        v("short_calls", calls.short_calls, "Calls that wrote less than asked.");
        v("smallest_bytes", calls.smallest, "Bytes asked by the smallest call; 0 without calls.");
        v("largest_bytes", calls.largest, "Bytes asked by the largest call.");
        v("by_size", by_size(calls),
          "Calls by size: key K counts calls of K to 2K-1 bytes (K is a power of two; 1 also "
          "holds 0).",
          limited(R"({"propertyNames": {"pattern": "^[0-9]+$"}})"));
        v.object("by_call", "Calls by family.", [&](auto& by) {
            by("write", total.by_write, "Calls of write().");
            by("pwrite", total.by_pwrite, "Calls of pwrite().");
            by("writev", total.by_writev, "Calls of writev() and pwritev().");
            by("aio", total.by_aio, "Calls of POSIX aio.");
            by("uring", total.by_uring, "Calls of io_uring.");
        });
        v("by_phase", with_calls(s.by_phase), "By phase of the run; only phases with calls.");
    }
};

template <>
struct Fields<TransfersRecord> {
    static constexpr std::string_view name = "transfers";
    static void visit(auto& v, auto& s) {
        v("collective_requested", s.collective_requested,
          "Collective data transfers were asked for.");
        v("collective_actual", s.collective_actual, "The library reports collective transfers.");
        v("mode", s.mode, "Actual mode as the library reports it; may be empty.");
        v("no_collective_cause", s.no_collective_cause,
          "Why not collective; empty: no cause reported.");
        v("metadata_collective_requested", s.metadata_collective_requested,
          "Collective metadata reads were asked for.");
        v("metadata_collective_actual", s.metadata_collective_actual,
          "Derived from counted reads.");
        v("metadata_evidence", s.metadata_evidence, "What was counted; may be empty.");
    }
};

template <>
struct Fields<MpiIoRecord> {
    static constexpr std::string_view name = "mpi_io";
    static void visit(auto& v, auto& s) {
        v("implementation", s.implementation, "Name and version; empty: no MPI-IO.");
        v("hints_requested", s.hints_requested, "Hints that were asked for.");
        v("hints_in_force", s.hints_in_force, "Hints as MPI_File_get_info returns them.");
    }
};

template <>
struct Fields<FileRecord> {
    static constexpr std::string_view name = "file";
    static void visit(auto& v, auto& s) {
        v("path", s.path, "Final name; of a failed repetition the one that it would have had.");
        v("parts", s.parts, "All files it consists of; empty where the write failed.");
        v("settings", s.settings, "Settings in force, read back from the file.");
        v("durable", s.durable, "The sync returned success on every node.");
        v("content_hashes", s.content_hashes,
          "XXH3-128 of the row-major little-endian bytes of each object, by path; independent of "
          "ranks and layout. Absent where it was not computed: it takes one reader that sees all "
          "bytes in order (`tailrace verify --hash`).",
          {KeyRule::Presence::absent,
           R"({"additionalProperties": {"pattern": "^[0-9a-f]{32}$"}})"});
    }
};

template <>
struct Fields<WrongElement> {
    static constexpr std::string_view name = "wrong_element";
    static void visit(auto& v, auto& s) {
        v("object", s.object, "Path of the object.");
        v("index", s.index, "Its index.");
        v("expected", only_if(std::isfinite(s.expected), s.expected),
          "Expected value; null: not a finite number.", of_any_sign);
        v("found", only_if(std::isfinite(s.found), s.found),
          "Value found; null: not a finite number.", of_any_sign);
    }
};

template <>
struct Fields<ReadBackRecord> {
    static constexpr std::string_view name = "read_back";
    static void visit(auto& v, auto& s) {
        v("decomposition", s.decomposition, "Ranks per dimension of the reading grid.",
          limited(R"({"items": {"minimum": 1}})"));
        v("bytes", s.bytes, "Bytes read by all ranks.");
        v("elapsed_s", s.elapsed_s, "Seconds from the last rank in to the last rank out.");
        v("rate_bytes_per_s", rate(s.bytes, s.elapsed_s), "Null where the time is 0.");
        v("cache", s.cache.empty() ? "unknown" : s.cache, "State of the page cache before.",
          cache_states);
    }
};

template <>
struct Fields<ReadRecord> {
    static constexpr std::string_view name = "read";
    static void visit(auto& v, auto& s) {
        v("pattern", s.pattern, "Which elements were read by whom: docs/user/reading.md.",
          limited(R"({"enum": ["same", "other", "plane", "points", "shuffled", "full", "partial",
                               "strided"]})"));
        v("bytes", s.bytes, "Bytes read by all ranks.");
        v("requests", s.requests, "Boxes asked for by all ranks.");
        v("open_s", s.open_s,
          "Seconds to open the file, from the last rank in to the last rank out.");
        v("elapsed_s", s.elapsed_s, "Seconds in read calls: the sum of the slowest rank's.");
        v("rate_bytes_per_s", rate(s.bytes, s.elapsed_s),
          "bytes by elapsed_s; null where the time is 0.");
        v("cache", s.cache, "State of the page cache before.", cache_states);
        v("cache_evidence", s.cache_evidence, "How that is known.");
        v("elements", s.elements, "Elements that were compared with what was written.");
        v("wrong", s.wrong, "Elements of them that differ.");
    }
};

template <>
struct Fields<ComparedArm> {
    static constexpr std::string_view name = "limit_arm";
    static void visit(auto& v, auto& s) {
        const LimitArm& arm = s.arm;
        v("bytes", arm.bytes, "Bytes that all ranks wrote.");
        v("elapsed_s", only_if(!arm.error, arm.elapsed_s),
          "Seconds from the last rank in to the last rank out: create, write, fsync where the name "
          "ends in _fsync, close. Null where it failed.");
        v("rate_bytes_per_s", rate(arm.bytes, arm.elapsed_s, !arm.error), "bytes / elapsed_s.");
        v("against", arm.against,
          "The time of the kernel (elapsed) that does the same: ratio is about that one.");
        v("ratio", s.ratio,
          "Rate of the kernel / rate of this arm; null where one of both was not measured.");
        v("error", arm.error, "Why it could not be measured, otherwise null.");
    }
};

template <>
struct Fields<ComparedLimit> {
    static constexpr std::string_view name = "limit";
    static void visit(auto& v, auto& s) {
        v("order", s.order, "Names of the arms, and kernel, in the order in which they ran.");
        v("arms", s.arms,
          "Per arm: file_per_rank, shared_file (pwrite), mpi_io (the pieces of the kernel, with "
          "its mode and hints), each also with _fsync, and memory_copy.");
    }
};

template <>
struct Fields<ServingPart> {
    static constexpr std::string_view name = "serving_part";
    static constexpr std::string_view sentence = "Some of the ranks.";
    static void visit(auto& v, auto& s) {
        v("ranks", s.ranks, "How many.");
        v("messages_sent", s.messages_sent, "Messages of the server's protocol; absent: none.",
          absent);
        v("messages_received", s.messages_received, "The same, received.", absent);
        v("cpu_s", s.cpu_s,
          "Processor seconds of a rank: of the model in the calls it waits for, of a server in the "
          "whole process since the repetition before; absent: not measured.",
          absent);
    }
};

template <>
struct Fields<QueueRecord> {
    static constexpr std::string_view name = "queue";
    static void visit(auto& v, auto& s) {
        v("bytes_max", s.bytes_max, "Most bytes that waited for their writer at one server.");
        v("items_max", s.items_max, "Most steps and ends of files without a verdict there.");
    }
};

template <>
struct Fields<SharedMemoryRecord> {
    static constexpr std::string_view name = "serving_memory";
    static void visit(auto& v, auto& s) {
        v("idle_bytes", s.idle_bytes, "When all processes had started MPI.");
        v("peak_bytes", s.peak_bytes, "Most in one sample while files were written.");
        v("samples", s.samples, "How often it was looked at, on the node with the fewest.");
    }
};

template <>
struct Fields<FileTimeRecord> {
    static constexpr std::string_view name = "file_time";
    static void visit(auto& v, auto& s) {
        v("path", s.path, "Its final name.");
        v("bytes", s.bytes, "Bytes of all its elements.");
        v("elapsed_s", s.elapsed_s,
          "Seconds from its first data until it has its name; with server ranks on the clock of "
          "the one that wrote it.");
        v("rate_bytes_per_s", rate(s.bytes, s.elapsed_s),
          "bytes by elapsed_s; null where the time is 0.");
    }
};

template <>
struct Fields<ServingRecord> {
    static constexpr std::string_view name = "serving";
    static void visit(auto& v, auto& s) {
        v("kind", s.kind, "plain: the model writes by calls of the format; else the layout.",
          limited(R"({"enum": ["plain", "embedded", "simple", "multigroup", "helper"]})"));
        v("model", s.model, "The ranks of the model.");
        v("servers", s.servers, "The ranks that serve it and do nothing else.");
        v("stall_s", s.stall_s,
          "Seconds of a rank of the model in all calls that create files, hand over records and "
          "end files, without the last wait for files that others still write.");
        v("memory_copy_s", s.memory_copy_s,
          "Seconds of one copy of the same bytes in memory, by the same ranks at once: the best of "
          "several, the slowest rank's.");
        v("queue", s.queue, "What waited at a server; absent without one.", absent);
        v("memory", s.memory,
          "Proportional set sizes of all processes together; absent unless asked for.", absent);
        v("files", s.files, "In the order in which they were ended.");
    }
};

template <>
struct Fields<RankLine> {
    static constexpr std::string_view name = "time_line";
    static void visit(auto& v, auto& s) {
        v("rank", s.rank, "Which one.");
        v("resolution_s", in_ns(s.resolution_s),
          "No stretch lies further than this from where it was, in seconds; 0 where no stretches "
          "were joined.");
        v("stretches", in_ns(s.stretches),
          "In the order of time, never overlapping: [phase, start, end] or [phase, start, end, "
          "joined]: place in phases, seconds since the start, and of how many stretches of that "
          "phase it was made, laid side by side. Between them the rank was in no phase. At most "
          "4096 in all lines together, and 512 in each, unless a rank had more phases than that.",
          limited(R"({"type": "array", "items": {"type": "array", "description": "One stretch.",
                      "minItems": 3, "maxItems": 4, "items": {"type": "number", "minimum": 0}}})"));
    }
};

template <>
struct Fields<TimeLinesRecord> {
    static constexpr std::string_view name = "time_lines";
    static void visit(auto& v, auto& s) {
        v("elapsed_s", in_ns(s.elapsed_s),
          "Seconds from the start of all lines, right before the file is created, to the end of "
          "the last stretch of any rank; reading and checking included.");
        v("clock", std::string(s.one_clock ? "one" : "barrier"),
          "one: all ranks ran on one node and read the same clock. barrier: each node counts from "
          "where its first rank left a common barrier.",
          limited(R"({"enum": ["one", "barrier"]})"));
        v("clock_uncertainty_s", s.clock_uncertainty_s,
          "How far the lines of two nodes may be shifted against each other, in seconds: the "
          "longest that a rank took in a barrier to which all came together. 0 with one clock.");
        v("phases", s.phases,
          "Names of the phases of the lines, in the order in which they began.");
        v("list", s.lines,
          "Lines by rank. Up to 64 ranks: all. Of more: those with the longest and the shortest "
          "work, up to 32 of those that wrote, and others, evenly spread.",
          limited(R"({"maxItems": 64})"));
    }
};

}  // namespace tailrace::json
