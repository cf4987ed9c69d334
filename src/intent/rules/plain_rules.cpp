// SPDX-License-Identifier: Apache-2.0
// Small, scattered and misaligned calls of files of which no dataset is known: 61 to 63.
#include <algorithm>
#include <array>

#include "intent/rules/plain.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

bool datasets_known(const Subject& s) { return !s.file.datasets.empty(); }

std::uint64_t processes_of(const Subject& s) {
    return std::max<std::uint64_t>(s.file.processes.size(), 1);
}

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::optional<Held> below_collective(const Subject& s) {
    if (mpiio_calls(s, true) == 0) return std::nullopt;
    return Held{"collective",
                say("below ", mpiio_calls(s, true),
                    " collective calls a few ranks move the bytes of all of them, by themselves")};
}

namespace {

using plan::Class;

constexpr std::uint64_t small = 10 * kib;

// --- 61 and 62: small and scattered plain calls --------------------------------------------------
struct Side {
    std::string word;
    std::uint64_t calls = 0, bytes = 0, few = 0, apart = 0;
    bool placed = false;
};

Side side_of(const std::optional<PosixTransfers>& one, const char* word) {
    Side side{word};
    if (!one) return side;
    side.calls = one->calls.value_or(0);
    side.bytes = one->bytes.value_or(0);
    for (const SizeClass& sizes : one->sizes)
        if (sizes.below_bytes && *sizes.below_bytes <= small + 1) side.few += sizes.calls;
    side.placed = one->order || one->sequential;
    const std::uint64_t ahead = one->sequential.value_or(0);
    side.apart =
        one->order ? one->order->random.value_or(0) : side.calls - std::min(side.calls, ahead);
    return side;
}

/// The direction with more such calls.
template <class Calls>
Side worse(const Subject& s, Calls calls) {
    if (!s.file.posix) return {};
    const Side reads = side_of(s.file.posix->reads, "reads");
    const Side writes = side_of(s.file.posix->writes, "writes");
    return calls(reads) >= calls(writes) ? reads : writes;
}

std::uint64_t small_calls(const Side& side) { return side.few; }
std::uint64_t calls_apart(const Side& side) { return side.placed ? side.apart : 0; }

std::optional<Reason> small_fires(const Subject& s) {
    const Side side = worse(s, small_calls);
    if (datasets_known(s) || side.few < enough_calls || side.few * 10 < side.calls)
        return std::nullopt;
    Reason reason{say(side.few, " of ", side.calls, " ", side.word, " (",
                      percent(share(side.few, side.calls)), ") have at most ", size(small), ", ",
                      size(side.bytes / std::max<std::uint64_t>(side.calls, 1)), " on average"),
                  {}};
    return reason.note(say("posix.small_", side.word), side.few, "calls")
        .note(say("posix.", side.word), side.calls, "calls");
}

Proposal small_act(const Subject& s) {
    return advice(
        say("move more at a time: gather what is written in a buffer of 1 MiB and more, "
            "read a block and take the pieces from memory",
            s.file.mpiio ? ", or let collective calls of MPI-IO do so" : ""));
}

std::optional<Reason> apart_fires(const Subject& s) {
    const Side side = worse(s, calls_apart);
    if (datasets_known(s) || calls_apart(side) < enough_calls || side.apart * 5 < side.calls)
        return std::nullopt;
    Reason reason{say(side.apart, " of ", side.calls, " ", side.word, " (",
                      percent(share(side.apart, side.calls)),
                      ") go to another place than where the one before ended, or ahead of it"),
                  {}};
    return reason.note(say("posix.random_", side.word), side.apart, "calls")
        .note(say("posix.", side.word), side.calls, "calls");
}

Proposal apart_act(const Subject&) {
    return advice(
        "go through the file in its order: sort what is wanted by its place, read whole blocks "
        "and pick from them, or let collective calls do both; disks read ahead for nothing here");
}

// --- 63: alignment where no dataset is known -----------------------------------------------------
std::optional<Reason> misaligned_fires(const Subject& s) {
    if (datasets_known(s) || !s.file.posix || !s.file.posix->not_aligned_in_file)
        return std::nullopt;
    // What one process writes to a disk of its own the page cache puts together.
    if (processes_of(s) < 2 && !parallel_fs(s)) return std::nullopt;
    const std::uint64_t calls =
        side_of(s.file.posix->reads, "").calls + side_of(s.file.posix->writes, "").calls;
    const std::uint64_t bad = *s.file.posix->not_aligned_in_file;
    const Count block = fs_block(s);
    if (!block || *block < 512 || calls < enough_calls || bad * 10 <= calls) return std::nullopt;
    Reason reason{say(bad, " of ", calls, " system calls (", percent(share(bad, calls)),
                      ") do not begin at a block of ", size(*block)),
                  {}};
    return reason.note("file.not_aligned_calls", bad, "calls")
        .note("file.system_calls", calls, "calls")
        .note("fs.block_bytes", *block, "bytes");
}

Proposal misaligned_act(const Subject& s) {
    std::string text =
        say("begin what ranks write at multiples of ", size(*fs_block(s)),
            ", and write as much at a time: others share the blocks, and their locks");
    if (s.file.hdf5) text += " (H5Pset_alignment)";
    if (s.file.mpiio) text += " (hint striping_unit, which collective calls keep to)";
    return advice(std::move(text));
}

const std::array plain_table{
    Rule{"61",
         "Small plain reads and writes",
         Scope::file,
         Class::advice,
         "1000 and more system calls of at most 10 KiB, a tenth of all, of a file of which no "
         "dataset is known",
         "no collective calls above",
         "advice: move more at a time",
         "fewer calls",
         "S",
         {},
         small_fires,
         below_collective,
         small_act},
    Rule{"62",
         "Plain reads and writes here and there",
         Scope::file,
         Class::advice,
         "1000 and more system calls, a fifth of all, that go back or to another place, of a file "
         "of which no dataset is known",
         "no collective calls above",
         "advice: go in the order of the file",
         "the disk reads ahead what is wanted",
         "S",
         {},
         apart_fires,
         below_collective,
         apart_act},
    Rule{"63",
         "Plain calls across the blocks of the file system",
         Scope::file,
         Class::advice,
         "1000 and more system calls, more than a tenth of them not aligned, of a file of several "
         "processes or on a parallel file system, of which no dataset is known",
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
