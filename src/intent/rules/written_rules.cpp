// SPDX-License-Identifier: Apache-2.0
// Chunks that fit the calls, where the program or its library chose others: 72.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/chunk_cost.hpp"
#include "intent/rules/chunk_index.hpp"
#include "intent/rules/relied_on.hpp"
#include "intent/rules/unseen.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

// What things cost about, in nanoseconds: to look a chunk up and to move it by itself, a piece that
// is copied by itself, and a byte through filters (deflate) or past them. With any chunks: a call,
// the end of a dataset, and a byte that comes to the file. Fitted to a few patterns of h5py on one
// machine, with none held out: an order of magnitude. Rows came out at 7.9 times where 8.2 and 10.7
// were measured; frames with gzip at some 70, where it was 10.
constexpr double visit_ns = 5000, piece_ns = 20, pack_ns = 20, unpack_ns = 4, copy_ns = 0.25;
constexpr double call_ns = 5e4, end_ns = 2e6, fresh_ns = 1.5;
constexpr double worth_ns = 5e7;  // less is no matter for words

/// How often calls take up chunks, and what that costs.
struct Work {
    std::uint64_t visits = 0;
    double ns = 0;
};

/// Most writes end with the dataset closed or flushed, and its chunks with it.
bool written_through(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const std::uint64_t opens = dataset.opens.value_or(0);
    const std::uint64_t ends = opens - std::min(opens, calls(dataset.reads)) +
                               dataset.flushes.value_or(0) +
                               (s.file.hdf5 ? s.file.hdf5->flushes.value_or(0) : 0);
    return plan::times(ends, 2) >= calls(dataset.writes);
}

/// Pieces of one call that lie together in a chunk and in memory.
std::uint64_t pieces_of(const Access& access, const Extents& chunk) {
    std::uint64_t elements = 1, together = 1;
    bool ended = false;
    for (std::size_t d = chunk.size(); d-- > 0;) {
        elements = plan::times(elements, access.length[d]);
        if (ended) continue;
        const std::uint64_t part = std::min(access.length[d], chunk[d]);
        together = plan::times(together, part);
        ended = part < chunk[d] || part < access.length[d];
    }
    return elements / std::max<std::uint64_t>(together, 1);
}

bool covers(const Access& access, const Dataset& laid) {
    for (std::size_t d = 0; d < laid.chunk.size(); ++d)
        if (access.length[d] < std::min(laid.chunk[d], laid.dims[d])) return false;
    return true;
}

Work work_of(const Subject& s, const Dataset& laid, const Transfers& side, bool writes) {
    const std::optional<Access> access = dominant(side, laid);
    if (!access || access->bytes == 0) return {};
    const std::uint64_t count = moved_bytes(side) / access->bytes;
    const std::uint64_t chunk = chunk_bytes(laid).value_or(0), cache = cache_in_force(s);
    const std::uint64_t touched = chunks_touched(*access, laid);
    const bool filtered = !laid.filters.empty(), through = writes && written_through(s);
    const bool kept = !through && plan::times(touched, chunk) <= cache && !scattered(side, laid);
    Work made{plan::times(count, touched), static_cast<double>(count) * call_ns};
    if (writes) made.ns += static_cast<double>(moved_bytes(side)) * fresh_ns;
    if (through) made.ns += static_cast<double>(count) * end_ns;
    if (kept) made.visits = std::min(made.visits, chunks_of(laid));
    const auto visits = static_cast<double>(made.visits);
    const auto pieces = static_cast<double>(plan::times(count, pieces_of(*access, laid.chunk)));
    if (!filtered && chunk > cache) {  // past the cache, piece by piece
        made.ns += pieces * visit_ns + static_cast<double>(moved_bytes(side)) * copy_ns;
        return made;
    }
    const bool taken_in = !writes || !(kept || covers(*access, laid));
    const double a_byte = (taken_in ? (filtered ? unpack_ns : copy_ns) : 0) +
                          (writes ? (filtered ? pack_ns : copy_ns) : 0);
    made.ns += visits * (visit_ns + static_cast<double>(chunk) * a_byte) + pieces * piece_ns;
    return made;
}

Work work_of(const Subject& s, const Extents& chunk) {
    Dataset laid = *s.dataset;
    laid.chunk = chunk;
    const Work writes = work_of(s, laid, *laid.writes, true);
    const Work reads = laid.reads ? work_of(s, laid, *laid.reads, false) : Work{};
    return {writes.visits + reads.visits, writes.ns + reads.ns};
}

/// What a call writes; less where that is more than 4 MiB, and several of them where it is less
/// than 64 KiB.
Extents as_written(const Dataset& dataset, const Access& writing) {
    Extents shape = writing.length;
    std::uint64_t bytes = type_bytes(dataset);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        shape[d] =
            std::clamp<std::uint64_t>(shape[d], 1, std::max<std::uint64_t>(dataset.dims[d], 1));
        bytes = plan::times(bytes, shape[d]);
    }
    for (std::size_t d = 0; d < shape.size() && bytes > tile_bytes; ++d)
        while (shape[d] > 1 && bytes > tile_bytes) {
            bytes = bytes / shape[d] * ((shape[d] + 1) / 2);
            shape[d] = (shape[d] + 1) / 2;
        }
    for (std::size_t d = 0; d < shape.size(); ++d)
        while (bytes < 64 * kib && shape[d] < dataset.dims[d]) {
            const std::uint64_t wider = std::min(shape[d] * 2, dataset.dims[d]);
            bytes = bytes / shape[d] * wider;
            shape[d] = wider;
        }
    return shape;
}

struct Better {
    Extents chunk;
    Work now, then;
};

std::optional<Better> better_chunk(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (parallel(s) || !chunked(dataset) || !extents_known(dataset)) return std::nullopt;
    if (dataset.chunk.size() != dataset.dims.size() || !plain_type(dataset)) return std::nullopt;
    const std::optional<Access> writing = dominant(dataset.writes, dataset);
    if (!writing || type_bytes(dataset) == 0 || elements(dataset).value_or(0) == 0)
        return std::nullopt;
    Better found{as_written(dataset, *writing), work_of(s, dataset.chunk), {}};
    found.then = work_of(s, found.chunk);
    if (found.now.ns < 2 * found.then.ns || found.now.ns - found.then.ns < worth_ns)
        return std::nullopt;
    Dataset anew = dataset;
    anew.chunk = found.chunk;
    if (bytes_stored(anew) / 3 * 2 > bytes_stored(dataset) + index_bytes(dataset))
        return std::nullopt;
    return found;
}

std::optional<Reason> written_fires(const Subject& s) {
    const std::optional<Better> better = better_chunk(s);
    if (!better) return std::nullopt;
    const Dataset& dataset = *s.dataset;
    const Access writing = *dominant(dataset.writes, dataset);
    Reason reason{say(writing.calls, writing.calls == 1 ? " write of " : " writes of ",
                      extents(writing.length), " elements, by chunks of ", extents(dataset.chunk),
                      " elements",
                      written_through(s) ? ", and the dataset is closed or flushed after most" : "",
                      index_text(dataset)),
                  {}};
    return reason.note("dataset.write_calls", writing.calls, "calls")
        .note("dataset.chunk_visits", better->now.visits, "chunks")
        .note("dataset.chunk_visits_then", better->then.visits, "chunks");
}

std::optional<Held> written_held(const Subject& s) {
    if (auto held = held_by_direct_chunks(s)) return held;
    if (auto held = held_by_reliance(s)) return held;
    return unseen_transfers(s);
}

Proposal written_act(const Subject& s) {
    const Better better = *better_chunk(s);
    std::string tuple;
    for (const std::uint64_t extent : better.chunk) tuple += say(extent, ", ");
    if (better.chunk.size() > 1)
        tuple.resize(tuple.size() - 2);
    else
        tuple.resize(tuple.size() - 1);
    const double gain = better.now.ns / std::max(better.then.ns, 1.0);
    Proposal made = advice(say("create it with chunks of ", extents(better.chunk),
                               " elements (h5py: chunks=(", tuple, ")), as it is written"));
    made.chunk = better.chunk;
    Dataset anew = *s.dataset;
    anew.chunk = better.chunk;
    const bool fewer = better.then.visits < better.now.visits / 2;
    made.effect = say(
        "chunks are accessed ", better.then.visits, " times",
        fewer ? say(" instead of ", better.now.visits)
              : say(", ", size(*chunk_bytes(anew)), " instead of ", size(*chunk_bytes(*s.dataset))),
        ": by estimate its transfers are ", gain > 10 ? "more than 10" : to_a_tenth(gain),
        " times as fast");
    return made;
}

const std::array written_table{
    Rule{"72",
         "Chunks as they are written",
         Scope::dataset,
         Class::advice,
         "a serial dataset in chunks of the program, or of its library, that calls access again "
         "and again, or in very many of them: by estimate twice the work of chunks of the shape "
         "that is written (64 KiB to 4 MiB), reads included, and 50 ms more",
         "it is no index of PyTables; the program writes no whole chunks itself; every transfer "
         "was seen",
         "advice: the chunks to create it with, and lines for the program",
         "chunks are accessed less often",
         "H, I",
         {},
         written_fires,
         written_held,
         written_act},
};

}  // namespace

std::span<const Rule> written_rules() { return written_table; }

}  // namespace tailrace::intent::rules
