// SPDX-License-Identifier: Apache-2.0
// Rules of the chunk cache: 13, 14, 15.
#include <algorithm>
#include <array>
#include <cmath>

#include "intent/plan/functions.hpp"
#include "intent/rules/chunk_cost.hpp"
#include "intent/rules/read_cost.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/unseen.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr std::uint64_t usual_sieve = 64 * kib;  ///< HDF5's sieve buffer

// --- 13, 14, 15: the chunk cache
// ------------------------------------------------------------------
/// What of a cache was asked for so far: lines for a program that set one part have to give the
/// others again.
Reason with_cache(Reason reason, const Subject& s) {
    for (const char* key : {"chunk_cache_bytes", "chunk_cache_slots", "chunk_cache_preemption"})
        if (const auto value = value_asked_for(s, key))
            reason.evidence.push_back({say("dataset.", key, "_asked_for"), *value, {}});
    // A cache is one of an open dataset: lines for a program have to say so if calls open it anew.
    const Dataset& dataset = *s.dataset;
    const std::uint64_t opens = dataset.opens.value_or(0);
    const std::uint64_t made = calls(dataset.reads) + calls(dataset.writes);
    if (opens > std::max<std::uint64_t>(s.file.processes.size(), 1) &&
        plan::times(2, opens) >= made)
        reason.note("dataset.opens", opens, "calls");
    return reason;
}

/// How HDF5 reads a chunk depends on whether the cache could hold it, and ranks that read together
/// have to read alike: where not every rank may have the plan's cache, none has it.
std::optional<Held> chunk_held_between_ranks(const Subject& s, std::uint64_t chunk) {
    if (!parallel(s) || file_ranks(s) < 2 || chunk <= cache_in_force(s)) return std::nullopt;
    return Held{Guard::ranks, say("a chunk of ", size(chunk), " is larger than the cache of ",
                                  size(cache_in_force(s)),
                                  " without the plan: ranks that read together could read it in "
                                  "different ways, and wait for ever")};
}

std::optional<Held> held_between_ranks(const Subject& s) {
    const auto anew = laid_out_anew(s);
    return chunk_held_between_ranks(s, chunk_bytes(anew ? anew->dataset : *s.dataset).value_or(0));
}

struct Need {
    Access access;
    std::uint64_t chunks = 0, bytes = 0, chunk_bytes = 0;
    std::uint64_t changes = 0;  ///< from chunk to chunk, between calls; 0: one call touches them
    std::string_view rule{};    ///< that gives these chunks; empty: the program does
    bool is_read = false;

    /// Chunks that one call takes whole are not wanted again by the next.
    [[nodiscard]] bool takes_whole() const { return access.bytes >= bytes; }
    [[nodiscard]] std::uint64_t wanted() const { return plan::times(bytes / 5, 6); }
};

/// Calls of few chunks each that go round all of them more than once.
std::optional<Need> need_of_turns(const Transfers& side, const Dataset& dataset, Need one) {
    if (!side.order || one.chunks == 0) return std::nullopt;
    if (!side.order->chunk_changes) return std::nullopt;
    // Each process has a cache of its own.
    const std::uint64_t changes =
        *side.order->chunk_changes / std::max<std::uint64_t>(side.processes.value_or(1), 1);
    const std::uint64_t all =
        chunks_touched({dataset.dims, {}, one.access.calls, one.access.bytes}, dataset);
    // A first round is needed in any case; twice as many changes are a second one.
    if (plan::times(changes, one.chunks) < plan::times(2, all)) return std::nullopt;
    one.changes = changes;
    one.chunks = all;
    one.bytes = plan::times(all, one.chunk_bytes);
    return one;
}

/// What a call of a side needs.
std::optional<Need> need_of_calls(const std::optional<Transfers>& side, const Dataset& dataset) {
    const std::uint64_t chunk = chunk_bytes(dataset).value_or(0);
    const std::optional<Access> access = dominant(side, dataset);
    if (chunk == 0 || !access || access->calls < 2 || access->bytes == 0) return std::nullopt;
    Need need{*access, chunks_touched(*access, dataset), 0, chunk, 0, {}};
    need.bytes = plan::times(need.chunks, chunk);
    return need;
}

bool is_plain(const Dataset& dataset) { return dataset.filters.empty(); }

/// The side that needs more cache, where chunks are touched again and again.
std::optional<Need> cache_need(const Subject& s) {
    const auto anew = laid_out_anew(s);
    const Dataset& dataset = anew ? anew->dataset : *s.dataset;
    std::optional<Need> most;
    for (const auto* side : {&dataset.reads, &dataset.writes}) {
        std::optional<Need> need = need_of_calls(*side, dataset);
        if (!need) continue;
        need->is_read = side == &dataset.reads;
        // What is written whole is written anyway, and what has no filters is only moved again.
        const bool is_done = need->takes_whole() && (!need->is_read || is_plain(dataset));
        if (anew) {  // whose chunks have not been counted
            need->rule = anew->rule;
        } else if (const auto turns = need_of_turns(**side, dataset, *need); turns && !is_done) {
            const bool fits = turns->wanted() <= memory_of_process(s);
            if (fits || need->bytes <= cache_in_force(s)) need = turns;
        }
        if (need->takes_whole() && need->changes == 0) continue;
        if (!most || need->bytes > most->bytes) most = need;
    }
    return most;
}

/// How often chunks come into the cache over the run, as it is and with the plan's.
void note_loads(Reason& reason, const Need& need, const Subject& s) {
    if (!need.rule.empty()) return;  // of chunks that are not there yet nothing was counted
    const Transfers& side = need.is_read ? *s.dataset->reads : *s.dataset->writes;
    const std::uint64_t now = cache_in_force(s), then = std::max(need.wanted(), 8 * mib);
    const double cost_now = cost_of(s, side, now);
    Saving saving = saving_of(side, cost_now, cost_of(s, side, then, true));
    if (!need.is_read) saving.seconds.reset();  // much of it is in the close
    if (saving.times < 1.05) {
        if (cost_now > 0 && saving.seconds) reason.note("estimated.saved", *saving.seconds, "s");
        return;
    }
    const auto before = static_cast<std::uint64_t>(std::llround(loads_of(s, side, now)));
    const auto after = static_cast<std::uint64_t>(std::llround(loads_of(s, side, then, true)));
    note_saving(reason, saving, s);
    if (is_plain(*s.dataset) && need.chunk_bytes > now) return;  // it moves pieces of them now
    reason.note("estimated.loads_now", before, "chunks")
        .note("estimated.loads_then", after, "chunks");
    reason.effect = say("chunks are brought into the cache ", counted(after, "time"),
                        " instead of ", before, "; ", reason.effect);
}

std::optional<Reason> chunk_cache_fires(const Subject& s) {
    const std::optional<Need> need = cache_need(s);
    if (!need || need->bytes <= cache_in_force(s)) return std::nullopt;
    const std::uint64_t cache = cache_in_force(s), chunk = need->chunk_bytes;
    const std::string_view again =
        s.dataset->filters.empty() ? "" : ", so each call decompresses them again";
    if (need->changes > 0) {
        const std::uint64_t made = calls(need->is_read ? s.dataset->reads : s.dataset->writes);
        const std::string_view most = need->access.calls < made ? ", most often" : "";
        Reason reason{
            say(made, " calls", most, " of ", extents(need->access.length), " elements, went ",
                need->changes, " times to another chunk of ", size(chunk), ", and there are ",
                need->chunks, ", ", size(need->bytes),
                " together: they come in turns, and the chunk cache holds ", size(cache), again),
            {}};
        reason.note("dataset.calls", made, "calls")
            .note("dataset.chunk_changes", need->changes, "calls")
            .note("dataset.chunks", need->chunks, "chunks")
            .note("dataset.chunk_bytes", chunk, "bytes")
            .note("dataset.cache_in_force", cache, "bytes");
        note_loads(reason, *need, s);
        return with_cache(std::move(reason), s);
    }
    Reason reason{say(need->access.calls, " calls of ", extents(need->access.length),
                      " elements touch ", counted(need->chunks, "chunk"), " of ", size(chunk),
                      need->rule.empty() ? "" : say(", which rule ", need->rule, " gives it,"),
                      " each time, ", size(need->bytes), " together; the chunk cache holds ",
                      size(cache), again),
                  {}};
    reason.note("dataset.calls", need->access.calls, "calls")
        .note("dataset.chunks_touched", need->chunks, "chunks")
        .note("dataset.chunk_bytes", chunk, "bytes")
        .note("dataset.cache_in_force", cache, "bytes");
    note_loads(reason, *need, s);
    return with_cache(std::move(reason), s);
}

/// Why there will be no cache for what is needed.
std::optional<Held> need_held(const Subject& s, const Need& need) {
    const std::uint64_t memory = memory_of_process(s);
    if (need.wanted() > memory)
        return Held{Guard::memory, say("the cache would need ", size(need.wanted()),
                                       ", and a process may have ", size(memory), " for it")};
    if (parallel(s) && calls(s.dataset->writes) > 0)
        return Held{Guard::parallel,
                    "in a file that ranks open together, chunks that are written do not "
                    "go through the chunk cache"};
    return chunk_held_between_ranks(s, need.chunk_bytes);
}

/// Of a chunk without filters that is larger than the cache HDF5 moves just the pieces that are
/// asked for, by its sieve buffer. With a cache for it a call moves all of it, at least once.
std::optional<Held> held_by_pieces(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!dataset.filters.empty() || chunk_bytes(dataset).value_or(0) <= cache_in_force(s))
        return std::nullopt;
    const std::uint64_t all = bytes_stored(dataset);
    const bool turns = cache_need(s)->changes > 0;
    std::uint64_t now = 0, then = 0;
    for (const auto* side : {&dataset.reads, &dataset.writes}) {
        const std::optional<Need> need = need_of_calls(*side, dataset);
        if (!need || need->takes_whole()) continue;
        std::uint64_t pieces = 1;
        for (std::size_t d = 0; d + 1 < need->access.length.size(); ++d)
            pieces = plan::times(pieces, need->access.length[d]);
        if (!need->access.stride.empty() && need->access.stride.back() > 1)
            pieces = plan::times(pieces, need->access.length.back());
        const std::uint64_t piece = need->access.bytes / std::max<std::uint64_t>(pieces, 1);
        const std::uint64_t moved = plan::times(pieces, (piece / usual_sieve + 1) * usual_sieve);
        now += plan::times(need->access.calls, std::min(moved, need->bytes));
        // Where calls come back to a chunk before others take its place, it is read once.
        const std::uint64_t calls = plan::times(need->access.calls, need->bytes);
        const bool again = !turns && need->bytes < all && scattered(**side, dataset);
        then += again ? calls : std::min(calls, all);
    }
    if (then / 4 < std::max<std::uint64_t>(now, 1)) return std::nullopt;
    return Held{
        Guard::places,
        say("without filters HDF5 moves only pieces of chunks that the cache ", "does not hold, ",
            size(now), "; with a cache for them it would move whole chunks, ", size(then))};
}

std::optional<Held> chunk_cache_held(const Subject& s) {
    if (auto held = need_held(s, *cache_need(s))) return held;
    return laid_out_anew(s) ? std::nullopt : held_by_pieces(s);
}

Proposal chunk_cache_act(const Subject& s) {
    const Need need = *cache_need(s);
    Extents selection = need.changes > 0 ? s.dataset->dims : need.access.length;
    // With a stride the elements lie further apart than their number says.
    for (std::size_t d = 0; d < selection.size(); ++d)
        if (d < need.access.stride.size() && need.access.stride[d] > 1)
            selection[d] =
                std::min(plan::times(selection[d], need.access.stride[d]), s.dataset->dims[d]);
    // A whole extent stays whole where the next dataset is larger.
    for (std::size_t d = 0; d < selection.size(); ++d)
        if (selection[d] >= s.dataset->dims[d]) selection[d] = 0;
    const std::uint64_t memory = memory_of_process(s);
    return {
        {{"chunk_cache_bytes",
          {},
          plan::Call{"cache_of_selection",
                     {{"percent", 120}, {"low_bytes", 8 * mib}, {"high_bytes", memory}},
                     selection}},
         {"chunk_cache_slots", {}, plan::Call{"slots_of_selection", {{"factor", 100}}, selection}}},
        plan::When::any,
        {},
        {},
        {}};
}

std::optional<Reason> streaming_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!chunked(dataset)) return std::nullopt;
    const Count all = size_bytes(dataset);
    const std::uint64_t read = moved_bytes(dataset.reads), written = moved_bytes(dataset.writes);
    if (!all || *all < 8 * mib || (read > 0) == (written > 0)) return std::nullopt;
    if (std::max(read, written) > *all) return std::nullopt;
    const auto& side = read > 0 ? dataset.reads : dataset.writes;
    if (!side->order || side->order->random.value_or(0) > 0 ||
        side->order->repeated.value_or(0) > 0 || side->order->sequential.value_or(0) == 0)
        return std::nullopt;
    Reason reason{say(size(std::max(read, written)), " of ", size(*all),
                      read > 0 ? " read once, in sequence" : " written once, in sequence",
                      ": a finished chunk is not used again"),
                  {}};
    reason.note("dataset.bytes", *all, "bytes")
        .note("dataset.moved_bytes", std::max(read, written), "bytes");
    return with_cache(std::move(reason), s);
}

std::optional<Held> streaming_held(const Subject& s) {
    if (auto held = unseen_transfers(s)) return held;
    return held_between_ranks(s);
}

Proposal streaming_act(const Subject&) {
    // Not 1, as is often said: HDF5 then lets go of finished chunks only, and where there is none
    // the cache grows past its size, to all chunks that a selection touches (8 MiB to 64 in a
    // test).
    return {.settings = {{.key = "chunk_cache_preemption", .value = Setting(0.99)}}};
}

std::optional<Reason> reuse_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    const std::uint64_t read = moved_bytes(dataset.reads);
    if (!chunked(dataset) || !all || *all == 0) return std::nullopt;
    const bool again = dataset.read_after_write && dataset.read_after_write->any.value_or(false);
    if (read < plan::times(2, *all) && !(again && read >= *all)) return std::nullopt;
    Reason reason{
        say(size(read), " read of a dataset of ", size(*all),
            again ? ", some of it after it had been written" : "", ": chunks are used again"),
        {}};
    reason.note("dataset.bytes", *all, "bytes").note("dataset.bytes_read", read, "bytes");
    return with_cache(std::move(reason), s);
}

double preemption_in_force(const Subject& s) {
    const auto asked = value_asked_for(s, "chunk_cache_preemption");
    if (const auto* fraction = asked ? std::get_if<double>(&*asked) : nullptr) return *fraction;
    if (const auto* whole = asked ? std::get_if<std::uint64_t>(&*asked) : nullptr)
        return static_cast<double>(*whole);
    return 0.75;
}

double reuse_preemption(const Subject& s) {
    // Chunks that were read to the end go first all the same where only writes come back.
    const bool many = moved_bytes(s.dataset->reads) >= plan::times(4, *size_bytes(*s.dataset));
    return many ? 0.0 : 0.5;
}

/// A library on top of HDF5 may ask for less by itself, PyTables for 0.
std::optional<Held> reuse_held(const Subject& s) {
    const double now = preemption_in_force(s);
    if (now <= reuse_preemption(s))
        return Held{Guard::in_force, say("the preemption is ", fraction(now),
                                         " already, which keeps chunks at least as long")};
    return held_between_ranks(s);
}

Proposal reuse_act(const Subject& s) {
    return {.settings = {{.key = "chunk_cache_preemption", .value = Setting(reuse_preemption(s))}}};
}

constexpr std::string_view cache_keys =
    "chunk_cache_bytes chunk_cache_slots chunk_cache_preemption";

const std::array cache_table{
    Rule{"13",
         "A chunk cache for the chunks that a call touches",
         Scope::dataset,
         Class::safe,
         "the chunks that a repeated call touches in part, or that calls visit in turns over the "
         "run, are more than the chunk cache holds",
         "the cache is within the memory of a process; in parallel only for reading, and chunks "
         "that the cache in force could hold; chunks without filters that it could not hold, of "
         "which HDF5 moves only pieces, would not move four times the bytes as a whole",
         "chunk cache: these chunks and a fifth more, and a hundred slots per chunk (a prime)",
         "chunks are read and decompressed less often: in a measured case 0.042 s instead of 8.9 s",
         "I, J, H",
         {.keys = cache_keys, .extents = true},
         chunk_cache_fires,
         chunk_cache_held,
         chunk_cache_act},
    Rule{"14",
         "Finished chunks leave the cache first",
         Scope::dataset,
         Class::safe,
         "read once or written once, in sequence, 8 MiB or more",
         "in parallel only chunks that the cache in force could hold",
         "preemption 0.99; with 1.0 HDF5 lets the cache grow past its size",
         "the cache holds chunks that are used again",
         "A",
         {.keys = cache_keys},
         streaming_fires,
         streaming_held,
         streaming_act},
    Rule{"15",
         "Chunks that are used again stay in the cache",
         Scope::dataset,
         Class::safe,
         "read at least twice over, or again after it was written",
         "the preemption in force, also one that a library asks for, is greater; in parallel only "
         "chunks that the cache in force could hold",
         "preemption 0.5; 0 where it is read at least four times",
         "fewer reads",
         "A",
         {.keys = cache_keys},
         reuse_fires,
         reuse_held,
         reuse_act},
};

}  // namespace

std::optional<Held> held_by_cache(const Subject& s, const plan::Call& chunk) {
    Dataset anew = *s.dataset;
    anew.chunk = as_applied(s, chunk);
    const std::uint64_t cache = cache_in_force(s), bytes = chunk_bytes(anew).value_or(0);
    // Without filters HDF5 moves just what is asked for of a chunk that it does not cache: one that
    // ranks share, or that is too large.
    if (anew.filters.empty() && (parallel(s) || bytes > cache)) return std::nullopt;
    std::optional<Need> most;
    bool worse = false;
    for (const auto* side : {&anew.reads, &anew.writes}) {
        const std::optional<Need> need = need_of_calls(*side, anew);
        if (!need || need->takes_whole() || need->bytes <= cache) continue;
        const std::uint64_t now = bytes_touched(need->access, *s.dataset);
        worse = worse || need->bytes / 4 >= std::max<std::uint64_t>(now, 1);
        if (!most || need->bytes > most->bytes) most = need;
    }
    if (!worse) return std::nullopt;
    std::optional<Held> why = unmet({.keys = cache_keys}, s);
    if (!why) why = need_held(s, *most);
    if (!why) return std::nullopt;
    return Held{Guard::cache,
                say("calls of ", extents(most->access.length), " elements would touch ",
                    size(most->bytes), " of chunks of ", extents(anew.chunk),
                    ", and there is no cache for them: ", why->text)};
}

std::span<const Rule> cache_rules() { return cache_table; }

}  // namespace tailrace::intent::rules
