// SPDX-License-Identifier: Apache-2.0
// Small, here_and_there and misaligned system calls of one file: 61 to 63.
#include <algorithm>
#include <array>

#include "intent/rules/plain.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

bool datasets_tell(const Subject& s) {
    return s.profile.origin.kind == OriginKind::hook && !s.file.datasets.empty();
}

std::uint64_t processes_of(const Subject& s) {
    return std::max<std::uint64_t>(s.file.processes.size(), 1);
}

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::uint64_t small_bytes(const Subject& s) { return parallel_fs(s) ? mib : 10 * kib; }

namespace {

/// Calls of just so many bytes, as far as the most frequent sizes tell.
std::uint64_t calls_of_size(std::uint64_t bytes, const PosixFile& posix,
                            const PosixTransfers& one) {
    std::uint64_t calls = 0;
    for (const FrequentSize& frequent : one.frequent.empty() ? posix.frequent : one.frequent)
        if (frequent.bytes == bytes) calls += frequent.calls;
    return calls;
}

}  // namespace

PlainCalls plain_calls(const Subject& s, Direction direction) {
    const bool reads = direction == Direction::reads;
    PlainCalls found{reads ? "reads" : "writes"};
    if (!s.file.posix) return found;
    const auto& side = reads ? s.file.posix->reads : s.file.posix->writes;
    if (!side) return found;
    found.calls = side->calls.value_or(0);
    found.bytes = side->bytes.value_or(0);
    const std::uint64_t bound = small_bytes(s);
    for (const SizeClass& sizes : side->sizes)
        if (sizes.below_bytes && *sizes.below_bytes <= bound + 1) found.small += sizes.calls;
    // Blocks of 1 MiB are as they should be, and in the same class as what is below.
    if (bound == mib)
        found.small -= std::min(found.small, calls_of_size(mib, *s.file.posix, *side));
    if (side->order)
        found.apart = side->order->random.value_or(0);
    else if (side->sequential)
        found.apart = found.calls - std::min(found.calls, *side->sequential);
    return found;
}

bool small_in_file(const Subject& s, const PlainCalls& calls) {
    return !datasets_tell(s) && calls.small >= enough_calls && calls.small * 10 >= calls.calls;
}

bool collective_above(const Subject& s, Direction direction) {
    if (!s.file.mpiio) return false;
    const bool reads = direction == Direction::reads;
    const MpiioCalls calls = mpiio_calls(reads ? s.file.mpiio->reads : s.file.mpiio->writes);
    return calls.together > 0 && calls.together >= calls.alone;
}

bool collective_above(const Subject& s) {
    return mpiio_calls(s, true) > 0 && mpiio_calls(s, true) >= mpiio_calls(s, false);
}

Held below_collective(const Subject& s) {
    return {Guard::collective,
            say("below ", mpiio_calls(s, true),
                " collective calls it is MPI-IO that chooses who moves what, and how")};
}

namespace {

using plan::Class;

// --- 61 and 62: small and here_and_there plain calls
// --------------------------------------------------
using OfCalls = bool (*)(const Subject&, const PlainCalls&);

/// The directions of which it holds, above which most calls are, or are not, collective.
std::vector<PlainCalls> directions(const Subject& s, OfCalls holds, bool collective) {
    std::vector<PlainCalls> found;
    for (const Direction direction : {Direction::reads, Direction::writes}) {
        const PlainCalls calls = plain_calls(s, direction);
        if (holds(s, calls) && collective_above(s, direction) == collective) found.push_back(calls);
    }
    return found;
}

std::vector<PlainCalls> directions(const Subject& s, OfCalls holds) {
    std::vector<PlainCalls> found = directions(s, holds, false);
    return found.empty() ? directions(s, holds, true) : found;
}

template <OfCalls holds>
std::optional<Held> collective_held(const Subject& s) {
    if (!directions(s, holds, false).empty()) return std::nullopt;
    return below_collective(s);
}

bool here_and_there(const Subject& s, const PlainCalls& one) {
    return !datasets_tell(s) && one.apart >= enough_calls && one.apart * 5 >= one.calls;
}

std::optional<Reason> small_fires(const Subject& s) {
    Reason reason;
    for (const PlainCalls& one : directions(s, small_in_file)) {
        reason.text += say(reason.text.empty() ? "" : "; ", one.small, " of ", one.calls, " ",
                           one.word, " (", percent(share(one.small, one.calls)), ") have at most ",
                           size(small_bytes(s)), ", ", size(one.bytes / one.calls), " on average");
        reason.note(say("posix.small_", one.word), one.small, "calls")
            .note(say("posix.", one.word), one.calls, "calls");
    }
    return reason.text.empty() ? std::nullopt : std::optional(reason);
}

Proposal small_act(const Subject& s) {
    return advice(
        say("move more at a time: gather what is written in a buffer of at least 1 MiB, "
            "read a block and take the pieces from memory",
            s.file.mpiio ? ", or let collective calls of MPI-IO do so" : ""));
}

std::optional<Reason> apart_fires(const Subject& s) {
    Reason reason;
    for (const PlainCalls& one : directions(s, here_and_there)) {
        reason.text += say(reason.text.empty() ? "" : "; ", one.apart, " of ", one.calls, " ",
                           one.word, " (", percent(share(one.apart, one.calls)),
                           ") go to another place than where the one before ended, or ahead of it");
        reason.note(say("posix.random_", one.word), one.apart, "calls")
            .note(say("posix.", one.word), one.calls, "calls");
    }
    return reason.text.empty() ? std::nullopt : std::optional(reason);
}

Proposal apart_act(const Subject&) {
    return advice(
        "go through the file in its order: sort what is wanted by its place, read whole blocks "
        "and pick from them, or let collective calls do both; disks read ahead for nothing here");
}

// --- 63: alignment where no dataset is known -----------------------------------------------------
std::optional<Reason> misaligned_fires(const Subject& s) {
    if (datasets_tell(s) || !s.file.posix || !s.file.posix->not_aligned_in_file)
        return std::nullopt;
    // What one process writes to a disk of its own the page cache puts together.
    if (processes_of(s) < 2 && !parallel_fs(s)) return std::nullopt;
    const PlainCalls reads = plain_calls(s, Direction::reads);
    const PlainCalls writes = plain_calls(s, Direction::writes);
    const std::uint64_t calls = reads.calls + writes.calls;
    const bool enough = calls >= enough_calls ||
                        (calls >= enough_calls / 10 && reads.bytes + writes.bytes >= 64 * mib);
    const std::uint64_t bad = *s.file.posix->not_aligned_in_file;
    const Count block = fs_block(s);
    if (!block || *block < 512 || !enough || bad * 10 <= calls) return std::nullopt;
    Reason reason{say(bad, " of ", calls, " system calls (", percent(share(bad, calls)),
                      ") do not begin at a block of ", size(*block)),
                  {}};
    const std::uint64_t in_memory = s.file.posix->not_aligned_in_memory.value_or(0);
    if (in_memory * 10 > calls)
        reason.text += say(", and ", in_memory, " move memory that is not aligned");
    return reason.note("file.not_aligned_calls", bad, "calls")
        .note("file.system_calls", calls, "calls")
        .note("fs.block_bytes", *block, "bytes");
}

Proposal misaligned_act(const Subject& s) {
    const std::string block = size(*fs_block(s));
    if (plain_calls(s, Direction::writes).calls < plain_calls(s, Direction::reads).calls)
        return advice(say("read whole blocks, which begin at multiples of ", block,
                          ": of a part the file system may bring the whole, for each rank"));
    std::string text = say("begin what ranks write at multiples of ", block,
                           ", and write as much at a time: others share the blocks, and their "
                           "locks");
    if (s.file.hdf5) text += " (H5Pset_alignment)";
    if (s.file.mpiio) text += " (hint striping_unit, which collective calls keep to)";
    return advice(std::move(text));
}

const std::array plain_table{
    Rule{"61",
         "Small plain reads and writes",
         Scope::file,
         Class::advice,
         "at least 1000 system calls of at most 10 KiB (1 MiB on a parallel file system), a tenth "
         "of all in their direction; not of a profile of our own that knows datasets",
         "most calls above are not collective",
         "advice: move more at a time",
         "fewer calls",
         "S",
         {},
         small_fires,
         collective_held<small_in_file>,
         small_act},
    Rule{
        "62",
        "Plain reads and writes here and there",
        Scope::file,
        Class::advice,
        "at least 1000 system calls, a fifth of all in their direction, that go back or to another "
        "place; not of a profile of our own that knows datasets",
        "most calls above are not collective",
        "advice: go in the order of the file",
        "the disk reads ahead what is wanted",
        "S",
        {},
        apart_fires,
        collective_held<here_and_there>,
        apart_act},
    Rule{
        "63",
        "Plain calls across the blocks of the file system",
        Scope::file,
        Class::advice,
        "at least 1000 system calls, or 100 that move 64 MiB, more than a tenth of them not "
        "aligned, of a file of several processes or on a parallel file system; not of a profile of "
        "our own that knows datasets",
        "",
        "advice: begin at blocks",
        "fewer locks and reads before writes",
        "S",
        {},
        misaligned_fires,
        nullptr,
        misaligned_act},
};

}  // namespace

std::span<const Rule> plain_rules() { return plain_table; }

}  // namespace tailrace::intent::rules
