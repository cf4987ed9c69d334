// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/sharing.hpp"

#include <algorithm>
#include <map>

#include "intent/intents/access.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

std::string layer_of(const Dataset& dataset) {
    return dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf";
}

bool meet(const CoveredBox& a, const CoveredBox& b) {
    if (a.start.size() != b.start.size() || a.count.size() != a.start.size() ||
        b.count.size() != b.start.size() || a.start.empty())
        return false;
    for (std::size_t d = 0; d < a.start.size(); ++d)
        if (a.start[d] + a.count[d] <= b.start[d] || b.start[d] + b.count[d] <= a.start[d])
            return false;
    return true;
}

bool same(const CoveredBox& a, const CoveredBox& b) {
    return a.start == b.start && a.count == b.count;
}

/// The first boxes of the processes; few enough to be compared with each other.
std::vector<const CoveredBox*> first_boxes(const Transfers& transfers) {
    std::vector<const CoveredBox*> boxes;
    for (const ProcessShare& one : transfers.by_process)
        if (one.first && one.calls.value_or(1) > 0 && boxes.size() < 256)
            boxes.push_back(&*one.first);
    return boxes;
}

/// Whether the boxes hold places that nobody asked for: of points and irregular selections.
bool is_sparse(const Transfers& transfers) {
    return std::any_of(transfers.shapes.begin(), transfers.shapes.end(), [](const Shape& shape) {
        return shape.selection == Selection::points || shape.selection == Selection::irregular;
    });
}

/// Blocks with gaps between them: several blocks of which another process can have the gaps.
bool has_gaps(const Transfers& transfers) {
    return std::any_of(transfers.shapes.begin(), transfers.shapes.end(), [](const Shape& shape) {
        for (std::size_t d = 0; d < shape.count.size(); ++d)
            if (d < shape.stride.size() && d < shape.block.size() && shape.count[d] > 1 &&
                shape.stride[d] > shape.block[d])
                return true;
        return false;
    });
}

Statement of_boxes(const Transfers& transfers, const std::vector<const CoveredBox*>& boxes,
                   Reasons why) {
    std::size_t equal = 0, meeting = 0;
    for (std::size_t a = 0; a < boxes.size(); ++a)
        for (std::size_t b = a + 1; b < boxes.size(); ++b) {
            equal += same(*boxes[a], *boxes[b]) ? 1 : 0;
            meeting += meet(*boxes[a], *boxes[b]) ? 1 : 0;
        }
    const std::size_t pairs = boxes.size() * (boxes.size() - 1) / 2;
    why.note("first_boxes", Count(boxes.size()), "boxes")
        .note("equal_pairs", Count(equal), "pairs")
        .note("meeting_pairs", Count(meeting), "pairs");
    // Where such boxes meet, or are the same, their elements may be others.
    if (meeting > 0 && is_sparse(transfers)) return why.say("not known", Confidence::low);
    if (equal == pairs) return why.say("same_region", Confidence::high);
    Statement gaps = why.say("interleaved", Confidence::medium);
    if (has_gaps(transfers)) return gaps;
    return why.say(meeting == 0 ? "disjoint_blocks" : "overlapping", Confidence::medium);
}

/// Whether a process moved anything: calls that failed, or were of no element, leave neither bytes
/// nor a place.
bool took_part(const ProcessShare& one) {
    return one.first || (one.calls.value_or(1) > 0 && one.bytes.value_or(1) > 0);
}

/// How many processes made these transfers; those of the dataset where that was not counted.
std::uint64_t movers(const Transfers& transfers, const Dataset& dataset) {
    const std::vector<ProcessShare>& shares = transfers.by_process;
    const auto some =
        static_cast<std::uint64_t>(std::count_if(shares.begin(), shares.end(), took_part));
    if (!transfers.processes) return shares.empty() ? dataset.processes.size() : some;
    // Of a big run only the first shares are there.
    const std::uint64_t idle = shares.size() - some;
    return *transfers.processes - std::min(*transfers.processes, idle);
}

/// From sums alone: all together moved the dataset once, or each of them all of it.
Statement of_sums(const Dataset& dataset, const Transfers& transfers, Reasons why) {
    const Count size = size_of(dataset);
    const std::uint64_t processes = movers(transfers, dataset);
    if (!size || *size == 0 || !transfers.bytes || processes == 0) return Statement{};
    why.note("bytes", transfers.bytes, "bytes")
        .note("size", size, "bytes")
        .note("processes", Count(processes), "processes");
    // Where one transfer was of all of it, the others were of nothing.
    if (*transfers.bytes == *size && transfers.whole.value_or(0) == 0)
        return why.say("disjoint_blocks", Confidence::low);
    if (*transfers.bytes / processes == *size && *transfers.bytes % processes == 0 &&
        transfers.whole.value_or(0) >= processes)
        return why.say("same_region", Confidence::high);
    return Statement{};
}

Statement of_one_direction(const Dataset& dataset, const std::optional<Transfers>& transfers,
                           const Reasons& why) {
    if (calls_done(transfers) == 0) return Statement{};
    if (movers(*transfers, dataset) < 2) return Statement{};  // alone it shares with no one
    const auto boxes = first_boxes(*transfers);
    return boxes.size() > 1 ? of_boxes(*transfers, boxes, why) : of_sums(dataset, *transfers, why);
}

/// The process that made all of these transfers; nothing where there are several, or none.
const ProcessShare* only_one(const std::optional<Transfers>& transfers) {
    const ProcessShare* found = nullptr;
    if (!transfers) return found;
    for (const ProcessShare& one : transfers->by_process) {
        if (!took_part(one)) continue;
        if (found) return nullptr;
        found = &one;
    }
    return found;
}

bool all_whole(const Transfers& transfers) {
    return done_of(transfers).value_or(0) > 0 && transfers.whole == done_of(transfers);
}

/// One process writes and another one reads.
Statement of_writer_and_reader(const Dataset& dataset, Reasons why) {
    const ProcessShare* writer = only_one(dataset.writes);
    const ProcessShare* reader = only_one(dataset.reads);
    if (!writer || !reader || writer->process == reader->process) return Statement{};
    why.note("whole_writes", dataset.writes->whole, "calls")
        .note("whole_reads", dataset.reads->whole, "calls");
    if (all_whole(*dataset.writes) && all_whole(*dataset.reads))
        return why.say("same_region", Confidence::high);
    if (!writer->first || !reader->first) return Statement{};
    return of_boxes(*dataset.writes, {&*writer->first, &*reader->first}, why);
}

}  // namespace

Statement sharing_of(const Dataset& dataset, std::uint64_t ranks) {
    const std::uint64_t processes = dataset.processes.size();
    if (processes == 0) return Statement{};
    Reasons why(layer_of(dataset));
    why.note("processes", Count(processes), "processes").note("ranks", Count(ranks), "ranks");
    return why.say(processes > 1 ? "shared" : "independent", Confidence::high);
}

Statement sharing_of(const PathPattern& pattern, const std::vector<PathUse>& paths,
                     std::uint64_t profile, std::uint64_t ranks) {
    std::uint64_t files = 0, shared = 0, most = 0;
    ProcessSet owners;
    for (const std::size_t member : pattern.members) {
        const PathUse& use = paths[member];
        if (use.profile != profile || use.processes.empty()) continue;
        ++files;
        most = std::max(most, use.processes.size());
        if (use.processes.size() > 1)
            ++shared;
        else
            owners.add(use.processes);
    }
    if (files == 0) return Statement{};
    Reasons why("run");
    why.note("files", Count(files), "files")
        .note("files_of_several_processes", Count(shared), "files")
        .note("processes_with_a_file_of_their_own", Count(owners.size()), "processes")
        .note("most_processes_of_a_file", Count(most), "processes")
        .note("ranks", Count(ranks), "ranks");
    if (shared == files) return why.say("shared", Confidence::high);
    if (shared > 0) return why.say("mixed", Confidence::high);
    if (ranks <= 1) return why.say("independent", Confidence::high);
    if (owners.size() > 1) return why.say("file_per_process", Confidence::high);
    return why.say("one_writer", Confidence::high);
}

Statement how_shared_of(const Dataset& dataset) {
    Reasons why(layer_of(dataset));
    const std::uint64_t processes = dataset.processes.size();
    if (processes == 0) return Statement{};
    if (processes == 1) {
        why.note("processes", Count(processes), "processes");
        return why.say("private", Confidence::high);
    }
    for (const auto* transfers : {&dataset.writes, &dataset.reads})
        if (Statement found = of_one_direction(dataset, *transfers, why);
            found.value != "not known")
            return found;
    return of_writer_and_reader(dataset, why);
}

Statement how_shared_of(std::vector<ByteRange> ranges, const std::string& from) {
    if (ranges.size() < 2) return Statement{};
    std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
        return a.first_byte != b.first_byte ? a.first_byte < b.first_byte : a.end_byte < b.end_byte;
    });
    std::uint64_t meeting = 0, equal = 0, moved = 0, covered = 0, end = 0;
    bool all_of_it = true;
    for (const ByteRange& one : ranges) {
        const bool first = &one == &ranges.front();
        meeting += !first && one.first_byte < end ? 1 : 0;
        equal +=
            one.first_byte == ranges.front().first_byte && one.end_byte == ranges.front().end_byte
                ? 1
                : 0;
        covered += one.end_byte - std::min(one.end_byte, std::max(one.first_byte, end));
        end = std::max(end, one.end_byte);
        moved += one.bytes;
        all_of_it = all_of_it && one.bytes >= one.end_byte - one.first_byte;
    }
    Reasons why(from);
    why.note("processes", Count(ranges.size()), "processes")
        .note("ranges_that_meet", Count(meeting), "ranges")
        .note("bytes_moved", Count(moved), "bytes")
        .note("bytes_in_ranges", Count(covered), "bytes");
    if (meeting == 0) return why.say("disjoint_blocks", Confidence::high);
    if (equal == ranges.size() && all_of_it) return why.say("same_region", Confidence::high);
    // Who together moved no more than the range holds, and each less than its own, has gaps for
    // others.
    return why.say(moved <= covered ? "interleaved" : "overlapping", Confidence::medium);
}

Statement agreed(const std::vector<const Statement*>& all, const std::string& objects,
                 const std::string& mixed) {
    std::map<std::string, std::uint64_t> votes;
    Confidence least = Confidence::high;
    for (const Statement* one : all) {
        if (one->value == "not known") continue;
        ++votes[one->value];
        least = std::max(least, one->confidence);
    }
    if (votes.empty()) return Statement{};
    Reasons why("hdf5");
    for (const auto& [value, count] : votes) why.note(value, Count(count), objects);
    if (votes.size() == 1) return why.say(votes.begin()->first, least);
    return why.say(mixed, least);
}

}  // namespace tailrace::intent
