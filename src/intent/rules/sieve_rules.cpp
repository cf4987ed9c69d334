// SPDX-License-Identifier: Apache-2.0
// Rules of the sieve buffer, one for the file: 11, 12.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/pattern_cost.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr std::uint64_t usual = 64 * kib, most = 4 * mib;

/// What a strided call spans in a row; 0 where the library would skip what lies between anyway, or
/// nothing does. HDF5 reads a buffer from each element on that is not in it: where a row has one
/// piece only, a larger buffer is read in vain.
std::uint64_t span_of(const Access& access, const Dataset& dataset) {
    if (access.stride.size() != access.length.size() || access.stride.back() <= 1) return 0;
    const std::uint64_t step = access.stride.back(), bytes = type_bytes(dataset);
    std::uint64_t block = access.block.empty() ? 1 : access.block.back();
    block = std::clamp<std::uint64_t>(block, 1, step);
    const std::uint64_t count = std::max<std::uint64_t>(access.length.back() / block, 1);
    if (plan::times(step - block, bytes) > usual) return 0;
    const std::uint64_t span = plan::times(count - 1, step) + block;
    return plan::times(std::min(span, dataset.dims.back()), bytes);
}

/// The longest of them in the file.
std::uint64_t strided_span(const Subject& s) {
    std::uint64_t longest = 0;
    for (const Dataset& dataset : s.file.datasets) {
        if (!contiguous(dataset) || dataset.dims.size() < 2) continue;
        for (const auto* side : {&dataset.reads, &dataset.writes}) {
            const std::optional<Access> access = dominant(*side, dataset);
            if (!access || access->calls < 10 || access->bytes >= most) continue;
            longest = std::max(longest, span_of(*access, dataset));
        }
    }
    return longest;
}

std::optional<Reason> sieve_fires(const Subject& s) {
    const std::uint64_t span = strided_span(s);
    if (span <= usual) return std::nullopt;
    Reason reason{say("strided calls that span ", size(span),
                      " in a row of a contiguous dataset; the sieve buffer holds 64 KiB"),
                  {}};
    return reason.note("dataset.span_bytes", span, "bytes");
}

/// Whether a larger buffer is larger for this one: HDF5 gives each dataset its own, of no more than
/// its size, from the first call to the close.
bool takes_more(const Dataset& dataset) {
    return contiguous(dataset) && size_bytes(dataset).value_or(0) > usual;
}

/// How many of them are used. When each is closed is not known: all may be open together.
std::uint64_t buffers(const Subject& s) {
    std::uint64_t found = 0;
    for (const Dataset& dataset : s.file.datasets)
        if (takes_more(dataset) && calls(dataset.reads) + calls(dataset.writes) > 0) ++found;
    return std::max<std::uint64_t>(found, 1);
}

std::uint64_t buffer_for(const Subject& s) {
    return std::min({strided_span(s), most, memory_of_process(s) / buffers(s)});
}

/// Calls that begin where the buffer is not, and have it read for little.
std::uint64_t jumps(const std::optional<Transfers>& side, const Dataset& dataset,
                    std::uint64_t buffer) {
    if (calls(side) == 0 || only_whole(side, dataset)) return 0;
    const std::optional<Access> access = dominant(side, dataset);
    if (access && (span_of(*access, dataset) > 0 || access->bytes >= buffer)) return 0;
    const Order order = side->order.value_or(Order{});
    return calls(side) - std::min(calls(side), order.sequential.value_or(0));
}

/// Calls elsewhere in the file that read a whole buffer for little: most of those of one dataset,
/// or so many of all together that they would read four times what the file moves.
std::optional<Held> held_by_others(const Subject& s, std::uint64_t buffer) {
    std::uint64_t all = 0, read = 0, moved = 0;
    for (const Dataset& dataset : s.file.datasets) {
        moved += moved_bytes(dataset.reads) + moved_bytes(dataset.writes);
        if (!takes_more(dataset)) continue;
        for (const auto* side : {&dataset.reads, &dataset.writes}) {
            const std::uint64_t found = jumps(*side, dataset, buffer);
            all += found;
            read += plan::times(found, std::min(buffer, *size_bytes(dataset)));
            if (calls(*side) >= 10 && plan::times(found, 2) >= calls(*side))
                return Held{Guard::others, say(dataset.path,
                                               " of the same file moves little at a time, not "
                                               "in sequence: it would read ",
                                               size(buffer), " for each piece")};
        }
    }
    if (read / 4 <= moved) return std::nullopt;
    return Held{Guard::others,
                say(all,
                    " calls of other datasets go to another place for little: they would "
                    "read ",
                    size(read), ", where ", size(moved), " are moved in all")};
}

std::optional<Held> sieve_held(const Subject& s) {
    if (buffer_for(s) <= usual)
        return Held{Guard::others, say("a process may have ", size(memory_of_process(s)),
                                       " for the buffers of ", counted(buffers(s), "dataset"),
                                       ": no more than 64 KiB for each, as it is")};
    return held_by_others(s, buffer_for(s));
}

Proposal sieve_act(const Subject& s) {
    return {.settings = {{.key = "sieve_buffer_bytes", .value = Setting(buffer_for(s))}}};
}

std::optional<Reason> whole_fires(const Subject& s) {
    if (parallel(s) || s.file.datasets.empty()) return std::nullopt;
    std::uint64_t whole = 0;
    for (const Dataset& dataset : s.file.datasets) {
        if (!contiguous(dataset)) return std::nullopt;
        for (const auto* side : {&dataset.reads, &dataset.writes}) {
            if (calls(*side) == 0) continue;
            if (!only_whole(*side, dataset)) return std::nullopt;
            whole += calls(*side);
        }
    }
    if (whole == 0) return std::nullopt;
    Reason reason{say("all ", whole, " transfers are of whole contiguous datasets"), {}};
    return reason.note("file.whole_transfers", whole, "calls");
}

const std::array sieve_table{
    Rule{"11",
         "A sieve buffer for strided calls",
         Scope::file,
         Class::safe,
         "strided calls of contiguous datasets span more than 64 KiB in a row",
         "what lies between two elements is less than 64 KiB; no other dataset of the file moves "
         "small pieces that are not in sequence, nor do such calls of all others together read "
         "four times what the file moves; a buffer for each dataset is within memory",
         "sieve buffer: what a call spans in a row, at most 4 MiB, and for all datasets together "
         "what a process may have",
         "fewer system calls",
         "A",
         {.serial = true, .keys = "sieve_buffer_bytes"},
         sieve_fires,
         sieve_held,
         sieve_act},
    Rule{"12",
         "Whole transfers need no sieve buffer",
         Scope::file,
         Class::safe,
         "a serial file with nothing but whole contiguous datasets",
         "",
         "nothing: rule 11 is held back",
         "none",
         "A",
         {},
         whole_fires,
         nullptr,
         leave},
};

}  // namespace

std::optional<Held> held_by_pieces_of_file(const Subject& s, std::uint64_t sieve_buffer) {
    return parallel(s) ? std::nullopt : held_by_others(s, sieve_buffer);
}

std::span<const Rule> sieve_rules() { return sieve_table; }

}  // namespace tailrace::intent::rules
