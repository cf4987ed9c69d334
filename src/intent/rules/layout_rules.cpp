// SPDX-License-Identifier: Apache-2.0
// Rules of a new dataset's layout: 17, 18, 19, 23.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/chunk_cost.hpp"
#include "intent/rules/chunk_index.hpp"
#include "intent/rules/relied_on.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/unseen.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

plan::Call tile(Extents extents, std::uint64_t most) {
    return {"tile", {{"max_bytes", most}}, std::move(extents)};
}

// --- blocks of ranks -----------------------------------------------------------------------------
/// The dimension along which ranks write their blocks, where each writes one.
std::optional<std::size_t> rank_dimension(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const std::optional<Access> writing = dominant(dataset.writes, dataset);
    if (!parallel(s) || !writing || file_ranks(s) < 2) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t d = 0; d < dataset.dims.size(); ++d) {
        if (writing->length[d] == dataset.dims[d]) continue;
        if (found || plan::times(writing->length[d], file_ranks(s)) != dataset.dims[d])
            return std::nullopt;
        found = d;
    }
    return found;
}

/// Bytes of each piece of a rank's block in a contiguous dataset, where the blocks of the ranks lie
/// side by side: a write is a piece for every row. Collective writes put the pieces together.
std::optional<std::uint64_t> interleaved_piece(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const auto dimension = rank_dimension(s);
    if (!contiguous(dataset) || !dimension || size_bytes(dataset).value_or(0) < mib)
        return std::nullopt;
    if (dataset.writes->requested_independent.value_or(0) < calls(dataset.writes))
        return std::nullopt;
    std::uint64_t pieces = 1;
    for (std::size_t d = 0; d < *dimension; ++d) pieces = plan::times(pieces, dataset.dims[d]);
    const std::uint64_t block = *size_bytes(dataset) / file_ranks(s);
    const std::uint64_t piece = pieces > 1 ? block / pieces : block;
    return pieces > 1 && piece < 4 * kib ? std::optional(piece) : std::nullopt;
}

/// Whether it is read in other pieces than the whole or the block of a rank.
bool read_otherwise(const Dataset& dataset) {
    if (calls(dataset.reads) == 0 || only_whole(dataset.reads, dataset)) return false;
    const std::optional<Access> reading = dominant(dataset.reads, dataset);
    const std::optional<Access> writing = dominant(dataset.writes, dataset);
    return !reading || !writing || reading->length != writing->length;
}

// --- 17: a tile for what is written one way and read another ------------------------------------
/// The reading shape, where it takes short pieces of a contiguous dataset.
std::optional<Access> across(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!contiguous(dataset) || rank_of(dataset) < 2) return std::nullopt;
    // Blocks of ranks that are read as they are written are for rule 18.
    if (interleaved_piece(s) && !read_otherwise(dataset)) return std::nullopt;
    const std::optional<Access> reading = dominant(dataset.reads, dataset);
    if (!reading || reading->calls < 2) return std::nullopt;
    const std::uint64_t piece = plan::times(reading->length.back(), type_bytes(dataset));
    // All but the last dimension in full rows is contiguous, and needs no tiles.
    const bool rows = extents_known(dataset) && reading->length.back() == dataset.dims.back();
    if (rows || piece >= 4 * kib) return std::nullopt;
    return size_bytes(dataset).value_or(0) >= mib ? reading : std::nullopt;
}

std::string extents_text(const Dataset& dataset) {
    if (extents_known(dataset)) return extents(dataset.dims);
    return say(elements(dataset).value_or(0), " elements in ", rank_of(dataset), " dimensions");
}

std::optional<Reason> tile_fires(const Subject& s) {
    const auto reading = across(s);
    if (!reading) return std::nullopt;
    Reason reason{say(reading->calls, " reads of ", extents(reading->length),
                      " elements from a contiguous dataset of ", extents_text(*s.dataset),
                      ": pieces of ", size(reading->length.back() * type_bytes(*s.dataset))),
                  {}};
    return reason.note("dataset.reads.calls", reading->calls, "calls")
        .note("dataset.piece_bytes", reading->length.back() * type_bytes(*s.dataset), "bytes");
}

/// The tile for a dataset that is read as `reading`.
Extents tile_shape(const Dataset& dataset, const Extents& reading) {
    const std::optional<Access> writing = dominant(dataset.writes, dataset);
    Extents shape = dataset.dims;
    // Per dimension the shorter of both, but never so thin that a chunk is a sliver.
    for (std::size_t d = 0; d < shape.size(); ++d) {
        shape[d] = std::min(shape[d], std::max<std::uint64_t>(reading[d], 1));
        if (writing) shape[d] = std::min(shape[d], std::max<std::uint64_t>(writing->length[d], 1));
    }
    std::uint64_t bytes = type_bytes(dataset);
    for (const std::uint64_t extent : shape) bytes = plan::times(bytes, extent);
    // Grown in turns to about 1 MiB, so that both ways pay alike.
    for (bool grown = true; grown && bytes < mib;) {
        grown = false;
        for (std::size_t d = shape.size(); d-- > 0 && bytes < mib;) {
            const std::uint64_t wider = std::min(shape[d] * 2, dataset.dims[d]);
            if (wider == shape[d]) continue;
            bytes = bytes / shape[d] * wider;
            shape[d] = wider;
            grown = true;
        }
    }
    return shape;
}

std::optional<Held> tile_held(const Subject& s) {
    if (auto held = held_by_reliance(s)) return held;
    const plan::Call wanted = tile(tile_shape(*s.dataset, across(s)->length), tile_bytes);
    if (auto held = held_by_cost(s, wanted)) return held;
    if (auto held = held_by_fill(s, wanted)) return held;
    return held_by_cache(s, wanted);
}

Proposal tile_act(const Subject& s) {
    const Extents shape = tile_shape(*s.dataset, across(s)->length);
    return {.settings = {{.key = "chunk", .function = tile(shape, tile_bytes)}},
            .when = plan::When::create};
}

// --- 18: chunks that are too small, too large or cut by ranks ------------------------------------
std::optional<Reason> interleaved_fires(const Subject& s) {
    const auto piece = interleaved_piece(s);
    if (!piece) return std::nullopt;
    const Dataset& dataset = *s.dataset;
    Reason reason{say("the blocks of ", file_ranks(s), " ranks lie side by side in a contiguous ",
                      "dataset of ", extents(dataset.dims), ": pieces of ", size(*piece)),
                  {}};
    return reason.note("dataset.piece_bytes", *piece, "bytes")
        .note("dataset.bytes", *size_bytes(dataset), "bytes");
}

std::optional<Reason> chunk_size_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (contiguous(dataset)) return interleaved_fires(s);
    const Count bytes = chunk_bytes(dataset);
    const Count all = size_bytes(dataset);
    if (!bytes || !all || rank_of(dataset) != dataset.chunk.size()) return std::nullopt;
    std::string why;
    if (*bytes < 64 * kib && (*all >= mib || mostly_index(dataset)))
        why = "smaller than 64 KiB" + index_text(dataset);
    if (*bytes > 32 * mib) why = "larger than 32 MiB";
    const auto dimension = rank_dimension(s);
    if (why.empty() && dimension && dataset.dims[*dimension] % dataset.chunk[*dimension] == 0) {
        const std::uint64_t block = dataset.dims[*dimension] / file_ranks(s);
        if (block % dataset.chunk[*dimension] != 0) why = "cut across the blocks of the ranks";
    }
    if (why.empty()) return std::nullopt;
    Reason reason{say("chunks of ", extents(dataset.chunk), " elements, ", size(*bytes), ": ", why),
                  {}};
    return reason.note("dataset.chunk_bytes", *bytes, "bytes").note("dataset.bytes", *all, "bytes");
}

/// The same shape, grown to about 1 MiB.
Extents grown_chunk(const Dataset& dataset) {
    Extents shape = dataset.chunk;
    std::uint64_t bytes = *chunk_bytes(dataset);
    for (bool grown = true; grown && bytes < mib;) {
        grown = false;
        for (std::size_t d = shape.size(); d-- > 0 && bytes < mib;) {
            const std::uint64_t wider =
                std::min(shape[d] * 2, std::max<std::uint64_t>(dataset.dims[d], 1));
            if (wider <= shape[d]) continue;
            bytes = bytes / shape[d] * wider;
            shape[d] = wider;
            grown = true;
        }
    }
    return shape;
}

/// The block of a rank, else grown.
plan::Call wanted_chunk(const Subject& s) {
    if (const auto dimension = rank_dimension(s))
        return {"block_per_rank", {{"dimension", *dimension}, {"max_bytes", 16 * mib}}, {}};
    return tile(grown_chunk(*s.dataset), tile_bytes);
}

/// Bytes of the chunks that hold the first elements, whatever follows of what can grow.
std::uint64_t bytes_at_first(const Dataset& dataset) {
    Access beginning{dataset.dims, {}, 1, 1};
    for (std::size_t d = 0; d < dataset.dims.size(); ++d) {
        const bool fixed = d < dataset.max_dims.size() && dataset.max_dims[d] == dataset.dims[d];
        if (!fixed) beginning.length[d] = 1;
    }
    return plan::times(chunks_touched(beginning, dataset), chunk_bytes(dataset).value_or(0));
}

/// The profile has the extents at the end, and chunks are chosen before: another run, or the next
/// file, may stop sooner.
std::optional<Held> growth_held(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!extendible(dataset)) return std::nullopt;
    if (dataset.elements.value_or(1) == 0)
        return Held{Guard::extents, "it can grow, and was always empty"};
    if (rank_dimension(s))
        return Held{Guard::extents,
                    "it can grow: the block of a rank is not known when the dataset is created"};
    if (!dataset.extensions || dataset.extensions->calls.value_or(0) == 0) return std::nullopt;
    Dataset anew = dataset;
    anew.chunk = as_applied(s, wanted_chunk(s));
    if (chunk_bytes(anew).value_or(0) <= chunk_bytes(dataset).value_or(0)) return std::nullopt;
    const std::uint64_t least = bytes_at_first(anew), all = size_bytes(dataset).value_or(0);
    if (least <= all / 64) return std::nullopt;
    return Held{Guard::extents, say("it grew to ", size(all), ", and may end sooner: chunks of ",
                                    extents(anew.chunk), " elements would hold ", size(least),
                                    " from the first one on")};
}

std::optional<Held> chunk_size_held(const Subject& s) {
    if (auto held = held_by_direct_chunks(s)) return held;
    if (auto held = held_by_reliance(s)) return held;
    if (contiguous(*s.dataset) && program_sets(s, "layout"))
        return Held{Guard::program, "the program asks for a contiguous dataset"};
    if (contiguous(*s.dataset) && read_otherwise(*s.dataset))
        return Held{Guard::reads, "it is read in other pieces than the blocks of the ranks"};
    if (auto held = unseen_transfers(s)) return held;
    if (auto held = growth_held(s)) return held;
    const std::uint64_t own = chunk_bytes(*s.dataset).value_or(0);
    if (!parallel(s) && !s.dataset->filters.empty() && own >= 16 * kib && own < 64 * kib)
        return Held{Guard::filters, say("chunks of ", size(own),
                                        " are packed as fast: larger ones leave the caches of the "
                                        "processor")};
    const std::uint64_t written = moved_bytes(s.dataset->writes),
                        all = size_bytes(*s.dataset).value_or(0);
    if (!parallel(s) && chunk_bytes(*s.dataset).value_or(0) < mib && written < all / 2)
        return Held{Guard::sparse, say(size(written), " of ", size(all),
                                       " are written: larger chunks "
                                       "hold more of what nobody writes")};
    if (filled_as_chunks(s) && written < all)
        return Held{Guard::sparse, say(size(written), " of ", size(all),
                                       " are written, and ranks have chunks filled when they are "
                                       "created")};
    const plan::Call wanted = wanted_chunk(s);
    if (auto held = held_by_cost(s, wanted)) return held;
    return held_by_cache(s, wanted);
}

/// "5 chunks to find instead of 300000".
std::string fewer_chunks(const Subject& s, const plan::Call& wanted) {
    Dataset anew = *s.dataset;
    anew.chunk = as_applied(s, wanted);
    return say(chunks_of(anew), " chunks to find and to write instead of ", chunks_of(*s.dataset));
}

Proposal chunk_size_act(const Subject& s) {
    const plan::Call wanted = wanted_chunk(s);
    Proposal made{.settings = {{.key = "chunk", .function = wanted}}, .when = plan::When::create};
    if (wanted.name == "tile") made.effect = fewer_chunks(s, wanted);
    return made;
}

// --- 19: appending
// --------------------------------------------------------------------------------
constexpr std::uint64_t many_chunks = 8;  // that one append goes into

std::optional<Reason> append_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!chunked(dataset) || dataset.dims.size() != 1 || !dataset.extensions) return std::nullopt;
    const std::uint64_t extensions = dataset.extensions->calls.value_or(0);
    const Count bytes = chunk_bytes(dataset);
    const std::uint64_t one = call_bytes(dataset.writes, dataset);
    if (extensions < 10 || !bytes || one == 0 || *bytes >= mib) return std::nullopt;
    const bool in_many = one / *bytes >= many_chunks && chunks_of(dataset) >= 1000;
    if (size_bytes(dataset).value_or(0) < 4 * mib && !in_many) return std::nullopt;
    Reason reason{
        say("grew ", extensions, " times by ", size(one), " each, to ", size(*size_bytes(dataset)),
            ", in chunks of ", size(*bytes), index_text(dataset)),
        {}};
    return reason.note("dataset.extensions", extensions, "calls")
        .note("dataset.write_call_bytes", one, "bytes")
        .note("dataset.chunk_bytes", *bytes, "bytes");
}

plan::Call appends(const Subject& s) {
    const std::uint64_t one = call_bytes(s.dataset->writes, *s.dataset);
    auto bytes = std::clamp<std::uint64_t>((one * 4 + mib - 1) / mib * mib, mib, 16 * mib);
    // Of what stayed small a chunk is a quarter.
    const std::uint64_t all = size_bytes(*s.dataset).value_or(0);
    while (all < 4 * mib && bytes > 64 * kib && bytes > all / 4) bytes /= 2;
    // A packed chunk that the cache does not hold is unpacked and packed again for each append.
    if (!s.dataset->filters.empty()) bytes = std::min(bytes, cache_in_force(s));
    return {"rows_of_bytes", {{"bytes", bytes}}, {}};
}

std::optional<Held> append_held(const Subject& s) {
    if (auto held = held_by_reliance(s)) return held;
    if (auto held = held_by_direct_chunks(s)) return held;
    const plan::Call wanted = appends(s);
    if (wanted.numbers.at("bytes") <= chunk_bytes(*s.dataset).value_or(0))
        return Held{Guard::cache,
                    say("with filters a chunk has to fit into the cache, which holds ",
                        size(cache_in_force(s)))};
    return held_by_cost(s, wanted);
}

Proposal append_act(const Subject& s) {
    return {.settings = {{.key = "chunk", .function = appends(s)}},
            .when = plan::When::create,
            .effect = fewer_chunks(s, appends(s))};
}

// --- 23: compact
// ----------------------------------------------------------------------------------
std::optional<Reason> compact_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count bytes = size_bytes(dataset);
    if (!contiguous(dataset) || !bytes || *bytes == 0 || *bytes > 60 * kib) return std::nullopt;
    if (created(s) && s.file.datasets.size() < 10) return std::nullopt;
    Reason reason{
        say(size(*bytes), " in a dataset that has its own place, one of ", s.file.datasets.size()),
        {}};
    return reason.note("dataset.bytes", *bytes, "bytes");
}

std::optional<Held> compact_held(const Subject& s) {
    if (auto held = held_by_reliance(s)) return held;
    if (extendible(*s.dataset)) return Held{Guard::extents, "the dataset can grow"};
    if (s.dataset->type && s.dataset->type->variable_length.value_or(false))
        return Held{Guard::type, "its elements point to data elsewhere in any case"};
    if (parallel(s) && !(only_whole(s.dataset->writes, *s.dataset) && same_order(s)))
        return Held{Guard::parallel,
                    "ranks write parts of it, and a compact dataset is written whole"};
    // To open one is to read its header, with all that is in it.
    const std::uint64_t all =
        plan::times(size_bytes(*s.dataset).value_or(0), s.file.datasets.size());
    const std::uint64_t opens = s.dataset->opens.value_or(0);
    if (all > 16 * mib &&
        opens > calls(s.dataset->reads) + s.dataset->creates.value_or(created(s) ? 1 : 0))
        return Held{Guard::opens, say("it is opened ", counted(opens, "time"), " and read ",
                                      counted(calls(s.dataset->reads), "time"),
                                      ": each open would read its elements too, ", size(all),
                                      " in all of ", s.file.datasets.size(), " datasets")};
    return std::nullopt;
}

Proposal compact_act(const Subject&) {
    return {.settings = {{.key = "layout", .value = Setting(std::string("compact"))}},
            .when = plan::When::create};
}

const std::array layout_table{
    Rule{"17",
         "Chunks for reading across",
         Scope::dataset,
         Class::layout,
         "repeated reads of pieces below 4 KiB from a contiguous dataset of at least 1 MiB",
         "it is no index of PyTables, and the program does not ask for its address in the file; "
         "calls that go from place to place "
         "would not move four times the bytes, nor flushes, nor calls where rule 13 can give no "
         "chunk cache; in parallel the reads save more than the "
         "fill values that HDF5 writes into chunks when they are created",
         "chunk: a tile common to writing and reading, 1 to 4 MiB, within the extents",
         "in a measured case 0.074 s instead of 2.05 s for a column; writing costs a little more",
         "H, I",
         {.created = true, .keys = "chunk layout", .extents = true},
         tile_fires,
         tile_held,
         tile_act},
    Rule{"18",
         "Chunks neither tiny nor huge, nor shared by ranks",
         Scope::dataset,
         Class::layout,
         "a chunk below 64 KiB, of a dataset of at least 1 MiB or of one that takes less room than "
         "the index of its chunks; a chunk above 32 MiB, or across the blocks of ranks; or a "
         "contiguous dataset of at least 1 MiB in which ranks write blocks side by side by "
         "themselves, in "
         "pieces below 4 KiB",
         "it is no index of PyTables; what can grow gets no blocks of ranks, and what grew larger "
         "chunks only where those of "
         "its first elements are at most a 64th of all; the program writes no whole chunks itself; "
         "what is contiguous is read as a whole or by the blocks of ranks, if at all, the program "
         "does not ask for its address, and it is written "
         "in full where its chunks would be filled before; in a file of one process half of it is "
         "written, and with filters a chunk has less than 16 KiB; calls that go from place to "
         "place would not move four times the bytes, nor "
         "flushes, nor calls where rule 13 can give no chunk cache",
         "chunk: the block of a rank, at most 16 MiB; else the same shape grown to 1 MiB",
         "fewer chunks to find; no two ranks write the same one; a rank's block is one piece",
         "B, C",
         {.created = true, .keys = "chunk", .extents = true},
         chunk_size_fires,
         chunk_size_held,
         chunk_size_act},
    Rule{
        "19",
        "Large chunks for datasets that grow",
        Scope::dataset,
        Class::layout,
        "a one-dimensional dataset that grew at least 10 times, to at least 4 MiB, in chunks below "
        "1 MiB; or in at least 1000 chunks, at least eight for each append",
        "it is no index of PyTables; the program writes no whole chunks itself; flushes would not "
        "write four times the bytes; "
        "with filters the chunk cache holds larger chunks than those of the program",
        "chunk: four appends, rounded up to 1 MiB, at most 16 MiB; a quarter of what stayed below "
        "4 MiB; with filters at most the chunk cache",
        "a smaller index, fewer writes",
        "H",
        {.created = true, .keys = "chunk"},
        append_fires,
        append_held,
        append_act},
    Rule{"23",
         "Tiny datasets are stored in their header",
         Scope::dataset,
         Class::layout,
         "at most 60 KiB, of a fixed size, one of at least 10 datasets",
         "it is no index of PyTables, it cannot grow, its type has a fixed length, and the program "
         "does not ask for its "
         "address in the file; in parallel it is written whole by all "
         "ranks alike; where such datasets have more than 16 MiB together it is not opened without "
         "being read",
         "layout compact",
         "one access less for each dataset",
         "A",
         {.created = true, .keys = "layout chunk"},
         compact_fires,
         compact_held,
         compact_act},
};

}  // namespace

std::optional<Anew> laid_out_anew(const Subject& s) {
    if (!s.allowed.contains(Class::layout) || !created(s)) return std::nullopt;
    if (program_sets(s, "chunk") || program_sets(s, "layout") || !extents_known(*s.dataset))
        return std::nullopt;
    const auto with = [&s](const plan::Call& chunk, std::string_view rule) -> std::optional<Anew> {
        Anew made{*s.dataset, rule};
        made.dataset.chunk = as_applied(s, chunk);
        made.dataset.layout = "chunked";
        if (made.dataset.chunk.empty()) return std::nullopt;
        return made;
    };
    if (const auto reading = across(s); reading && !tile_held(s))
        return with(tile(tile_shape(*s.dataset, reading->length), tile_bytes), "17");
    // Rule 19 goes before rule 18.
    if ((append_fires(s) && !append_held(s)) || !chunk_size_fires(s) || chunk_size_held(s))
        return std::nullopt;
    return with(wanted_chunk(s), "18");
}

std::span<const Rule> layout_rules() { return layout_table; }

}  // namespace tailrace::intent::rules
