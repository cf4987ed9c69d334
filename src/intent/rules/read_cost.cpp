// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/read_cost.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "intent/plan/functions.hpp"
#include "intent/rules/chunk_cost.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

/// What a call, and a chunk to find, take besides, as bytes that are moved or unpacked in that
/// time.
struct Steps {
    double call, chunk;
};
constexpr Steps plain_steps{32.0 * kib, 64.0 * kib};
constexpr Steps packed_steps{4.0 * kib, 8.0 * kib};  // unpacking takes longer than moving
constexpr double bytes_per_piece = 8.0 * kib;        // that is read by itself
constexpr double worth = 2;                          // by how much less is to be taken
constexpr double plenty = 8;                         // more is not worth chunks that are small
constexpr std::array<std::uint64_t, 2> usual_sizes{256 * kib, mib}, small_sizes{8 * kib, 32 * kib};

double volume(const Extents& extents) {
    double product = 1;
    for (const std::uint64_t extent : extents) product *= static_cast<double>(extent);
    return product;
}

/// Calls that reach over so much.
struct Visit {
    Extents reach;
    double calls = 0, bytes = 0;  ///< bytes: of one
};

/// Of the calls or of the bytes of a side: if more of them have no known place, nothing is said.
constexpr double most_unplaced = 0.05;

/// A profile keeps the most frequent shapes: those that it does not keep are taken to be like them.
/// Empty if too many calls are of points or irregular, so that nobody knows which chunks they need.
std::vector<Visit> visits_of(const Transfers& side, const Dataset& dataset) {
    std::vector<Visit> all;
    double kept = 0, unplaced = 0, unplaced_bytes = 0;
    for (const Shape& shape : side.shapes) {
        Extents length = shape.selection == Selection::all ? dataset.dims : shape.length;
        if (shape.calls == 0 || shape.call_bytes.value_or(1) == 0) continue;
        if (length.empty() || length.size() != dataset.dims.size()) {
            unplaced += static_cast<double>(shape.calls);
            unplaced_bytes += static_cast<double>(shape.calls) *
                              static_cast<double>(shape.call_bytes.value_or(0));
            continue;
        }
        if (volume(length) == 0) continue;
        Visit one{length, static_cast<double>(shape.calls), 0};
        one.bytes = volume(length) * static_cast<double>(type_bytes(dataset));
        for (std::size_t d = 0; d < length.size(); ++d) {
            const std::uint64_t step = d < shape.stride.size() ? shape.stride[d] : 1;
            if (step > 1) one.reach[d] = plan::times(length[d] - 1, step) + 1;
            one.reach[d] = std::min(one.reach[d], dataset.dims[d]);
        }
        kept += one.calls;
        all.push_back(std::move(one));
    }
    const double calls = static_cast<double>(side.calls.value_or(0));
    if (unplaced > most_unplaced * std::max(calls, kept + unplaced) ||
        unplaced_bytes > most_unplaced * static_cast<double>(side.bytes.value_or(0)))
        return {};
    const double more = std::max(1.0, (calls - unplaced) / std::max(kept, 1.0));
    for (Visit& one : all) one.calls *= more;
    return all;
}

/// A dataset as it lies, or could: `chunk` is empty where it has none.
struct Lying {
    const Dataset& dataset;
    const Extents& chunk;
    double cache = 0;
    double opens = 1;        ///< after which the cache is empty
    bool in_pieces = false;  ///< ranks share its chunks, so that no cache may hold them
    bool is_there = false;   ///< and not one that is only thought of
    double anew = 1;         ///< share of calls that want another chunk than the one before

    [[nodiscard]] double type() const { return static_cast<double>(type_bytes(dataset)); }
    [[nodiscard]] double chunk_size() const { return volume(chunk) * type(); }
    [[nodiscard]] bool moves_pieces() const {
        return dataset.filters.empty() && (in_pieces || chunk_size() > cache);
    }
    [[nodiscard]] const Steps& steps() const {
        return dataset.filters.empty() ? plain_steps : packed_steps;
    }
};

/// Chunks that a call has a part of: the least; and on the average of all places where it may
/// begin, but for who goes by the chunks that are there.
struct Chunks {
    double least = 1, usual = 1;
};

Chunks chunks_of(const Extents& reach, const Lying& lying) {
    Chunks found;
    for (std::size_t d = 0; d < reach.size(); ++d) {
        const std::uint64_t c = lying.chunk[d], extent = lying.dataset.dims[d];
        const std::uint64_t all = (extent + c - 1) / c, least = (reach[d] + c - 1) / c;
        const bool fits = lying.is_there && (reach[d] % c == 0 || c % reach[d] == 0);
        const double anywhere = 1 + static_cast<double>(reach[d] - 1) / static_cast<double>(c);
        found.least *= static_cast<double>(least);
        found.usual *=
            fits ? static_cast<double>(least) : std::min(anywhere, static_cast<double>(all));
    }
    return found;
}

/// Of a part of a box: each piece by itself, and at most all that lies between the first and last.
double cost_of_pieces(const Extents& part, const Extents& box, double type) {
    double run = type, pieces = 1;
    bool is_whole = true;
    for (std::size_t d = part.size(); d-- > 0;) {
        (is_whole ? run : pieces) *= static_cast<double>(part[d]);
        is_whole = is_whole && part[d] >= box[d];
    }
    const double span =
        volume(box) / static_cast<double>(box[0]) * static_cast<double>(part[0]) * type;
    return std::min(pieces * (run + bytes_per_piece), span + bytes_per_piece);
}

double loads(const std::vector<Visit>& visits, const Lying& lying) {
    double found = 0;
    for (const Visit& one : visits) {
        const Chunks chunks = chunks_of(one.reach, lying);
        const bool holds = chunks.least * lying.chunk_size() <= lying.cache;
        found += one.calls * chunks.usual * (holds ? lying.anew : 1.0);
    }
    const double all = chunks_of(lying.dataset.dims, lying).least;
    return all * lying.chunk_size() <= lying.cache ? std::min(found, lying.opens * all) : found;
}

double cost(const std::vector<Visit>& visits, const Lying& lying) {
    double found = 0;
    for (const Visit& one : visits) {
        found += one.calls * (lying.steps().call + one.bytes);
        if (lying.chunk.empty()) {
            found += one.calls * cost_of_pieces(one.reach, lying.dataset.dims, lying.type());
        } else if (lying.moves_pieces()) {
            Extents part = one.reach;
            for (std::size_t d = 0; d < part.size(); ++d)
                part[d] = std::min(part[d], lying.chunk[d]);
            found += one.calls * chunks_of(one.reach, lying).usual *
                     cost_of_pieces(part, lying.chunk, lying.type());
        }
    }
    if (lying.chunk.empty() || lying.moves_pieces()) return found;
    return found + loads(visits, lying) * (lying.chunk_size() + lying.steps().chunk);
}

Lying as_it_lies(const Subject& s, const Transfers& side, std::uint64_t cache, bool is_kept) {
    const Dataset& dataset = *s.dataset;
    static const Extents none;
    Lying made{dataset, chunked(dataset) ? dataset.chunk : none, static_cast<double>(cache)};
    const std::uint64_t processes = std::max<std::uint64_t>(side.processes.value_or(1), 1);
    const std::uint64_t read_only = s.file.hdf5 ? s.file.hdf5->read_only_opens.value_or(0) : 0;
    // A plan's cache lasts until the file is closed, in files that are opened to be read.
    const Count files = s.file.hdf5 ? s.file.hdf5->opens : Count{};
    const bool lasts = is_kept && !parallel(s) && read_only == files.value_or(read_only);
    const std::uint64_t opens =
        lasts ? files.value_or(processes) : dataset.opens.value_or(processes);
    made.opens = static_cast<double>(std::max(opens, processes));
    made.in_pieces = parallel(s) && read_only == 0;
    made.is_there = true;
    if (side.order && side.order->chunk_changes && side.calls.value_or(0) > 0) {
        const double begun = static_cast<double>(*side.order->chunk_changes) + made.opens;
        made.anew = std::min(1.0, begun / static_cast<double>(side.calls.value_or(0)));
    }
    return made;
}

/// Extents of about `room` elements: halved where longest, then doubled in turns, last first.
Extents sized(Extents made, const Extents& dims, double room) {
    while (volume(made) > room) {
        const auto longest = std::max_element(made.begin(), made.end());
        *longest = (*longest + 1) / 2;
    }
    for (bool grown = true; grown && 2 * volume(made) <= room;) {
        grown = false;
        for (std::size_t d = made.size(); d-- > 0;) {
            const std::uint64_t before = made[d];
            made[d] = std::min(2 * before, dims[d]);
            if (volume(made) > room) made[d] = before;
            grown = grown || made[d] > before;
        }
    }
    return made;
}

/// A chunk, and what the reads take with it.
using Tried = std::pair<double, Extents>;

/// Tried are the shapes of the reads and what they have in common. Of equal ones the larger: fewer
/// chunks in the file.
Tried best_of(const std::vector<Visit>& visits, const Lying& lying,
              const std::array<std::uint64_t, 2>& sizes) {
    std::vector<Extents> starts{visits.front().reach};
    for (const Visit& one : visits) {
        for (std::size_t d = 0; d < one.reach.size(); ++d)
            starts[0][d] = std::min(starts[0][d], one.reach[d]);
        starts.push_back(one.reach);
    }
    std::optional<Tried> best;
    for (const Extents& start : starts)
        for (const std::uint64_t bytes : sizes) {
            const double room = std::max(1.0, static_cast<double>(bytes) / lying.type());
            const Extents chunk = sized(start, lying.dataset.dims, room);
            const double taken =
                cost(visits, {lying.dataset, chunk, lying.cache, lying.opens, lying.in_pieces});
            if (!best || taken < best->first ||
                (taken == best->first && volume(chunk) > volume(best->second)))
                best = {taken, chunk};
        }
    return *best;
}

bool is_only_read(const Subject& s) {
    if (!s.file.hdf5 || s.file.hdf5->creates.value_or(0) > 0) return false;
    return std::ranges::none_of(s.file.datasets, [](const Dataset& one) {
        return calls(one.writes) > 0 || one.creates.value_or(0) > 0;
    });
}

/// "45", "2.7".
std::string times_text(double times) {
    char text[32];
    std::snprintf(text, sizeof text, times < 9.95 ? "%.1f" : "%.0f", times);
    return text;
}

}  // namespace

double cost_of(const Subject& s, const Transfers& side, std::uint64_t cache, bool is_kept) {
    return cost(visits_of(side, *s.dataset), as_it_lies(s, side, cache, is_kept));
}

double loads_of(const Subject& s, const Transfers& side, std::uint64_t cache, bool is_kept) {
    const Lying lying = as_it_lies(s, side, cache, is_kept);
    return lying.chunk.empty() ? 0 : loads(visits_of(side, *s.dataset), lying);
}

Saving saving_of(const Transfers& side, double now, double then, std::optional<double> recorded) {
    Saving found{then > 0 ? std::max(1.0, now / then) : 1.0};
    const std::uint64_t processes = std::max<std::uint64_t>(side.processes.value_or(1), 1);
    if (side.elapsed_s)
        found.seconds = *side.elapsed_s / static_cast<double>(processes) *
                        (1.0 - 1.0 / found.times) * (recorded ? now / *recorded : 1.0);
    return found;
}

void note_saving(Reason& reason, const Saving& saving, const Subject& s) {
    reason.note("estimated.times", saving.times, "times");
    reason.effect = say("about ", times_text(saving.times), " times less is moved and unpacked");
    if (!saving.seconds) return;
    reason.note("estimated.saved", *saving.seconds, "s");
    if (s.profile.run.elapsed_s)
        reason.effect += say(": ", seconds(*saving.seconds), " of the run's ",
                             seconds(*s.profile.run.elapsed_s));
}

std::optional<Relaid> relaid_for_reads(const Subject& s, Count planned) {
    const Dataset& dataset = *s.dataset;
    const bool lies_here = chunked(dataset) || contiguous(dataset);
    if (!lies_here || !dataset.reads || size_bytes(dataset).value_or(0) < mib) return std::nullopt;
    if (dataset.dims.empty() || (chunked(dataset) && dataset.chunk.size() != dataset.dims.size()))
        return std::nullopt;
    const Transfers& reads = *dataset.reads;
    const std::vector<Visit> visits = visits_of(reads, dataset);
    const std::optional<Access> most = dominant(dataset.reads, dataset);
    if (visits.empty() || !most) return std::nullopt;
    const Lying recorded = as_it_lies(s, reads, cache_in_force(s), false);
    const Lying lying = planned ? as_it_lies(s, reads, *planned, true) : recorded;
    const double now = cost(visits, lying);
    Tried best = best_of(visits, lying, usual_sizes);
    if (now < plenty * best.first) best = std::min(best, best_of(visits, lying, small_sizes));
    if (now < worth * best.first) return std::nullopt;
    const Saving saving = saving_of(reads, now, best.first, cost(visits, recorded));
    return Relaid{dataset.path, best.second, saving, *most, now, best.first};
}

std::vector<Relaid> relaid_for_reads_of_file(const Subject& s, const PlannedCache& planned) {
    std::vector<Relaid> all;
    if (!is_only_read(s)) return all;
    Subject of = s;
    for (const Dataset& dataset : s.file.datasets) {
        of.dataset = &dataset;
        auto one = relaid_for_reads(of, planned ? planned(of) : Count{});
        if (one) all.push_back(std::move(*one));
    }
    std::ranges::stable_sort(all, [](const Relaid& a, const Relaid& b) {
        return a.saving.seconds.value_or(0) > b.saving.seconds.value_or(0);
    });
    return all;
}

Saving saving_of(const std::vector<Relaid>& all) {
    Saving found;
    double now = 0, then = 0;
    for (const Relaid& one : all) {
        now += one.now;
        then += one.then;
        if (one.saving.seconds) found.seconds = found.seconds.value_or(0) + *one.saving.seconds;
    }
    if (then > 0) found.times = std::max(1.0, now / then);
    return found;
}

}  // namespace tailrace::intent::rules
