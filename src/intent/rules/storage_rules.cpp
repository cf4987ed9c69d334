// SPDX-License-Identifier: Apache-2.0
// Rules of how a new dataset is stored: 20, 21, 22, 30, 59.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/unseen.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

/// Whether the library writes fill values when it allocates. Its own default value goes into
/// chunks, and into a contiguous dataset only where the program asks for it each time.
bool fills(const Dataset& dataset) {
    const Fill fill = dataset.fill.value_or(Fill{});
    const std::string time = fill.time.value_or("ifset");
    const std::string defined = fill.defined.value_or("");
    if (time == "alloc") return true;
    return time == "ifset" && (defined == "user" || (defined == "default" && chunked(dataset)));
}

/// Whether it allocates all of the dataset before the program writes: when it is created or, unless
/// all is written then, at the first write. Chunks come one by one where nobody asks for more.
bool allocated_before(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const std::string when = dataset.allocation.value_or(parallel(s) ? "early" : "");
    const bool late = when == "late" || (when.empty() && !chunked(dataset));
    return when == "early" || (late && dataset.writes->whole.value_or(0) == 0);
}

std::optional<Reason> fill_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    if (!all || *all < mib || moved_bytes(dataset.writes) < *all) return std::nullopt;
    if (!fills(dataset) || !allocated_before(s) || !created(s)) return std::nullopt;
    Reason reason{say("all ", size(*all), " are written (", size(moved_bytes(dataset.writes)),
                      " by the program), and before that the library writes fill values"),
                  {}};
    return reason.note("dataset.bytes", *all, "bytes")
        .note("dataset.bytes_written", moved_bytes(dataset.writes), "bytes");
}

std::string type_words(const Dataset& dataset) {
    const std::string name = dataset.type ? dataset.type->type_class : "";
    if (name.empty()) return "a type that is not known";
    return say(dataset.type->variable_length.value_or(false) ? "of variable length, " : "",
               "class ", name);
}

/// What whoever counts the elements cannot do without, one process or all ranks.
std::optional<Held> not_countable(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!plain_type(dataset))
        return Held{Guard::type,
                    say("only for plain numbers and texts of a fixed length; this is ",
                        type_words(dataset), ", of which a write may leave a part as it was")};
    if (!fully_written(dataset))
        return Held{Guard::proof,
                    "it is not proven that every element is written: holes would hold "
                    "whatever was on the disk"};
    if (extendible(dataset)) return Held{Guard::extents, "the dataset can grow"};
    if (!contiguous(dataset))
        return Held{Guard::layout, "the hook counts the elements of contiguous datasets only"};
    return std::nullopt;
}

std::optional<Held> fill_held(const Subject& s) {
    if (parallel(s))
        return Held{Guard::ranks,
                    "in a file of several ranks that is rule 59, which has to be proven"};
    return not_countable(s);
}

std::optional<Reason> fill_of_ranks_fires(const Subject& s) {
    return parallel(s) ? fill_fires(s) : std::nullopt;
}

/// Nobody can ask the other ranks before a call that one makes alone.
std::optional<Held> fill_of_ranks_held(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (calls(dataset.reads) > 0)
        return Held{Guard::reads,
                    "the program reads it: one rank does not know what the others have written, so "
                    "what nobody has written could not get its fill value before"};
    if (auto held = unseen_transfers(s)) return held;
    if (dataset.flushes.value_or(0) > 0)
        return Held{Guard::flush,
                    "the program flushes it by itself: what nobody has written gets its fill value "
                    "where all ranks flush or close the file"};
    return not_countable(s);
}

Proposal fill_act(const Subject&) {
    return {.settings = {{.key = "fill_time", .value = Setting(std::string("never"))}},
            .when = plan::When::create};
}

std::optional<Reason> incremental_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    if (!parallel(s) || !all || *all < 16 * mib || calls(dataset.writes) == 0) return std::nullopt;
    if (moved_bytes(dataset.writes) * 2 > *all) return std::nullopt;
    Reason reason{say(size(moved_bytes(dataset.writes)), " of ", size(*all),
                      " are written; in parallel all of it is allocated at the create"),
                  {}};
    return reason.note("dataset.bytes", *all, "bytes")
        .note("dataset.bytes_written", moved_bytes(dataset.writes), "bytes");
}

std::optional<Held> incremental_held(const Subject& s) {
    if (!chunked(*s.dataset))
        return Held{Guard::layout, "only chunked datasets are allocated piece by piece"};
    return std::nullopt;
}

Proposal incremental_act(const Subject&) {
    return {.settings = {{.key = "allocation_time", .value = Setting(std::string("incremental"))}},
            .when = plan::When::create};
}

std::optional<Reason> contiguous_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    if (parallel(s) || !contiguous(dataset) || !all || *all < mib) return std::nullopt;
    if (!fully_written(dataset) || !created(s)) return std::nullopt;
    Reason reason{say("a serial file writes all ", size(*all),
                      " of a contiguous dataset: early or late allocation is the same"),
                  {}};
    return reason.note("dataset.bytes", *all, "bytes");
}

std::optional<Reason> compress_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    if (!dataset.filters.empty() || !all || *all < 64 * mib) return std::nullopt;
    if (calls(dataset.writes) == 0 || calls(dataset.reads) > 0 || !created(s)) return std::nullopt;
    const std::string type = dataset.type ? dataset.type->type_class : "";
    if (type != "float" && type != "integer") return std::nullopt;
    Reason reason{say(size(*all), " of ", type, "s written once and not read, without filters"),
                  {}};
    return reason.note("dataset.bytes", *all, "bytes");
}

std::optional<Held> compress_held(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!chunked(dataset)) return Held{Guard::layout, "only chunked datasets can have filters"};
    if (auto held = unseen_transfers(s)) return held;
    if (parallel(s)) {
        const bool together = dataset.writes->requested_collective.value_or(0) >=
                              std::max<std::uint64_t>(calls(dataset.writes), 1);
        if (!together)
            return Held{Guard::collective,
                        "filters in parallel need collective writes, and these are "
                        "not all collective"};
    }
    return std::nullopt;
}

Proposal compress_act(const Subject&) {
    return {{{"shuffle", Setting(true), {}}, {"deflate", Setting(std::uint64_t{1}), {}}},
            plan::When::create,
            {},
            {},
            {}};
}

const std::array storage_table{
    Rule{"20",
         "No fill values where every element is written",
         Scope::dataset,
         Class::layout,
         "at least 1 MiB, written in full, that the library fills before",
         "plain numbers or texts of a fixed length; proven in full; fixed extents; contiguous, in "
         "a file of one process; the hook counts "
         "again, and fills what was left out before anybody sees it",
         "fill time never",
         "half the bytes: in a measured case 0.22 s instead of 0.34 s",
         "A, S",
         {.created = true, .keys = "fill_time"},
         fill_fires,
         fill_held,
         fill_act},
    Rule{
        "59",
        "No fill values where all ranks together write every element",
        Scope::dataset,
        Class::collective,
        "at least 1 MiB of a file of several ranks, written in full, that the library fills before",
        "plain numbers or texts of a fixed length; proven in full; fixed extents; contiguous; "
        "neither read nor flushed by itself; the hooks of all ranks count again, and the first "
        "rank fills what none has written where they flush or close the file",
        "fill time never",
        "half the bytes; HDF5 lets one rank write the fill values, and the others wait: a "
        "checkpoint "
        "on two ranks took 1.7 s instead of 4.3 s",
        "A, S",
        {.parallel = true, .created = true, .same_order = true, .keys = "fill_time"},
        fill_of_ranks_fires,
        fill_of_ranks_held,
        fill_act},
    Rule{"21",
         "Chunks are allocated when they are written",
         Scope::dataset,
         Class::layout,
         "in parallel less than half of at least 16 MiB is written",
         "chunked",
         "allocation time incremental",
         "nothing is allocated in advance; the file is smaller",
         "A",
         {.parallel = true, .created = true, .keys = "allocation_time"},
         incremental_fires,
         incremental_held,
         incremental_act},
    Rule{"22",
         "Full serial writes need no other allocation",
         Scope::dataset,
         Class::layout,
         "a serial contiguous dataset that is written in full",
         "",
         "nothing: rule 21 is held back",
         "none",
         "A",
         {},
         contiguous_fires,
         nullptr,
         leave},
    Rule{"30",
         "Compression of data that is written once",
         Scope::dataset,
         Class::opt_in,
         "at least 64 MiB of numbers, written and not read, without filters",
         "chunked; in parallel only where all writes are collective",
         "shuffle and deflate 1",
         "fewer bytes on the disk, for more time of the processor",
         "I, K",
         {.created = true, .keys = "deflate shuffle filters"},
         compress_fires,
         compress_held,
         compress_act},
};

}  // namespace

std::span<const Rule> storage_rules() { return storage_table; }

}  // namespace tailrace::intent::rules
