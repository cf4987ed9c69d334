// SPDX-License-Identifier: Apache-2.0
// Rules of the file's own space and metadata: 1, 2, 3, 4, 5, 6, 9, 10, 24.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

// --- 1 and 2: alignment --------------------------------------------------------------------------
struct NotAligned {
    std::uint64_t calls = 0, all = 0, block = 0, large = 0, small = 0;
};

std::optional<NotAligned> not_aligned(const Subject& s) {
    if (!s.file.posix || !s.file.posix->not_aligned_in_file) return std::nullopt;
    NotAligned found;
    found.calls = *s.file.posix->not_aligned_in_file;
    for (const auto* side : {&s.file.posix->reads, &s.file.posix->writes})
        if (*side) found.all += (*side)->calls.value_or(0);
    const Count block = fs_block(s);
    if (!block || *block < 512 || found.all < 1000 || found.calls * 10 <= found.all)
        return std::nullopt;
    found.block = *block;
    for (const Dataset& dataset : s.file.datasets)
        (chunk_bytes(dataset).value_or(size_bytes(dataset).value_or(0)) >= *block ? found.large
                                                                                  : found.small)++;
    if (found.large == 0) return std::nullopt;
    return found;
}

Reason alignment_reason(const NotAligned& found) {
    Reason reason{say(found.calls, " of ", found.all, " system calls (",
                      percent(static_cast<double>(found.calls) / static_cast<double>(found.all)),
                      ") are not aligned to the blocks of ", size(found.block), "; ",
                      counted(found.large, "dataset"), " of objects of that size, ", found.small,
                      " of smaller ones"),
                  {}};
    return reason.note("file.not_aligned_calls", found.calls, "calls")
        .note("file.system_calls", found.all, "calls")
        .note("fs.block_bytes", found.block, "bytes");
}

std::optional<Reason> alignment_fires(const Subject& s) {
    const auto found = not_aligned(s);
    if (!found) return std::nullopt;
    return alignment_reason(*found);
}

constexpr std::uint64_t largest_alignment = 16 * mib;

plan::Call blocks(std::uint64_t low) {
    return {"fs_blocks", {{"count", 1}, {"low_bytes", low}, {"high_bytes", largest_alignment}}, {}};
}

/// Where the plan is put it goes by the block that the system tells, which on Lustre is 4 KiB: the
/// stripe of the profile is given with it.
std::uint64_t least_alignment(const Subject& s) {
    return std::clamp<std::uint64_t>(fs_stripe(s).value_or(0), 4 * kib, largest_alignment);
}

/// What is smaller than its alignment would have a block of its own: chunks of 64 KiB in blocks of
/// 16 MiB make a file 256 times as large. From a block on it is twice as large at most.
Proposal alignment_act(const Subject& s) {
    const std::uint64_t least = least_alignment(s);
    return {{{"alignment_threshold_bytes", {}, blocks(std::max<std::uint64_t>(least, 64 * kib))},
             {"alignment_bytes", {}, blocks(least)}},
            plan::When::create,
            {},
            {},
            {}};
}

std::optional<Reason> tiny_fires(const Subject& s) {
    const auto found = not_aligned(s);
    if (!found || found->small < 100 || found->small < 10 * found->large) return std::nullopt;
    return alignment_reason(*found);
}

// --- 3 and 4: blocks of metadata and small data --------------------------------------------------
std::optional<Reason> meta_block_fires(const Subject& s) {
    const std::uint64_t objects = metadata(s, "", &Operations::create);
    if (objects <= 100) return std::nullopt;
    Reason reason{say(objects,
                      " objects, groups and attributes are created; metadata is allocated "
                      "in blocks of 2 KiB by default"),
                  {}};
    return reason.note("file.objects_created", objects, "objects");
}

/// The connector takes 0.16 to 0.7 us of each call, and an object spares a write or two
/// (docs/decisions/0007, 36).
constexpr std::uint64_t calls_per_object = 50;

std::optional<Held> meta_block_held(const Subject& s) {
    const std::uint64_t objects = metadata(s, "", &Operations::create);
    const std::uint64_t calls = hdf5_calls(s) / callers(s);
    if (calls / calls_per_object < objects) return std::nullopt;
    return Held{Guard::small_calls,
                say("a process makes ", calls, " calls of H5Dwrite or H5Dread, ", calls / objects,
                    " for each object: the connector's work for each call takes longer than "
                    "larger blocks save")};
}

Proposal meta_block_act(const Subject& s) {
    const std::uint64_t objects = metadata(s, "", &Operations::create);
    // All of a block is part of the file, however little of it is used: no more than a quarter.
    const std::uint64_t file = bytes_at_end(s);
    std::uint64_t block = 16 * kib;
    for (const std::uint64_t larger : {128 * kib, mib, 4 * mib})
        if (plan::times(larger, 4) <= file && (larger <= mib || objects > 4000)) block = larger;
    return {.settings = {{.key = "meta_block_bytes", .value = Setting(block)}},
            .when = plan::When::create};
}

struct Small {
    std::uint64_t datasets = 0, bytes = 0;
};

Small small_datasets(const Subject& s) {
    Small found;
    for (const Dataset& dataset : s.file.datasets) {
        const Count bytes = size_bytes(dataset);
        if (!contiguous(dataset) || !bytes || *bytes == 0 || *bytes >= 2 * kib) continue;
        if (!created(s, dataset)) continue;
        ++found.datasets;
        found.bytes += *bytes;
    }
    return found;
}

std::optional<Reason> small_data_fires(const Subject& s) {
    const Small found = small_datasets(s);
    if (found.datasets < 50) return std::nullopt;
    Reason reason{
        say(found.datasets, " contiguous datasets below 2 KiB, ", size(found.bytes), " together"),
        {}};
    return reason.note("file.small_datasets", found.datasets, "datasets");
}

Proposal small_data_act(const Subject& s) {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(small_datasets(s).bytes, 64 * kib, mib);
    return {.settings = {{.key = "small_data_block_bytes",
                          .value = Setting(wanted / (4 * kib) * (4 * kib))}},
            .when = plan::When::create};
}

// --- 5 and 6: collective metadata ----------------------------------------------------------------
std::optional<Reason> collective_writes_fires(const Subject& s) {
    const std::uint64_t objects = metadata(s, "", &Operations::create);
    if (!parallel(s) || objects < 1000) return std::nullopt;
    Reason reason{say(objects, " metadata creations by ", file_ranks(s), " ranks"), {}};
    return reason.note("file.objects_created", objects, "objects")
        .note("file.ranks", file_ranks(s), "ranks");
}

std::optional<Held> page_buffer_held(const Subject& s) {
    if (program_sets(s, "page_buffer_bytes"))
        return Held{Guard::page_buffer, "the program has a page buffer, which excludes it"};
    return std::nullopt;
}

Proposal collective_writes_act(const Subject&) {
    return {.settings = {{.key = "collective_metadata_writes", .value = Setting(true)}},
            .when = plan::When::create};
}

std::optional<Reason> collective_reads_fires(const Subject& s) {
    const std::uint64_t opens = metadata(s, "", &Operations::open);
    if (!parallel(s) || opens < 100 * file_ranks(s)) return std::nullopt;
    Reason reason{
        say(opens, " opens of objects by ", file_ranks(s), " ranks: each reads the same metadata"),
        {}};
    return reason.note("file.object_opens", opens, "calls")
        .note("file.ranks", file_ranks(s), "ranks");
}

Proposal collective_reads_act(const Subject&) {
    return {.settings = {{.key = "collective_metadata_reads", .value = Setting(true)}}};
}

// --- 9 and 10: pages -----------------------------------------------------------------------------
std::optional<Reason> pages_fires(const Subject& s) {
    const std::uint64_t reads =
        metadata(s, "", &Operations::open) + metadata(s, "", &Operations::read);
    if (reads < 5000) return std::nullopt;
    Reason reason{say(reads, " opens and reads of objects and attributes: many small accesses"),
                  {}};
    return reason.note("file.metadata_reads", reads, "calls");
}

std::uint64_t page_bytes_for(const Subject& s) {
    return metadata(s, "", &Operations::create) > 20000 ? 256 * kib : 64 * kib;
}

std::optional<Held> pages_held(const Subject& s) {
    if (program_sets(s, "alignment_bytes"))
        return Held{Guard::program,
                    "the program aligns objects, which the strategy page would undo"};
    return std::nullopt;
}

/// Without a page buffer, by which HDF5 loses objects (docs/decisions/0007, 31).
Proposal pages_act(const Subject& s) {
    return {{{"file_space_strategy", Setting(std::string("page")), {}},
             {"page_bytes", Setting(page_bytes_for(s)), {}}},
            plan::When::create,
            {},
            {},
            {}};
}

std::optional<Reason> ignored_alignment_fires(const Subject& s) {
    if (!pages_fires(s) && !program_sets(s, "file_space_strategy")) return std::nullopt;
    if (!not_aligned(s) && !program_sets(s, "alignment_bytes")) return std::nullopt;
    return Reason{"with the strategy page HDF5 ignores alignment: only one of the two", {}};
}

// --- 24: newer format ----------------------------------------------------------------------------
std::optional<Reason> libver_fires(const Subject& s) {
    if (s.file.hdf5 && s.file.hdf5->metadata.empty()) return std::nullopt;  // how many groups?
    const std::uint64_t links = metadata(s, "link", &Operations::create) +
                                metadata(s, "attribute", &Operations::create) +
                                metadata(s, "dataset", &Operations::create);
    const std::uint64_t groups =
        std::max<std::uint64_t>(metadata(s, "group", &Operations::create), 1);
    if (links < 1000 || links / groups < 100) return std::nullopt;
    Reason reason{say(links, " links and attributes in ", counted(groups, "group"),
                      ": the old format searches long lists"),
                  {}};
    return reason.note("file.links", links, "objects").note("file.groups", groups, "groups");
}

Proposal libver_act(const Subject&) {
    return {{{"libver_low", Setting(std::string("v110")), {}},
             {"libver_high", Setting(std::string("v110")), {}}},
            plan::When::create,
            {},
            {},
            {}};
}

const std::array metadata_table{
    Rule{
        "1",
        "Objects begin at blocks of the file system",
        Scope::file,
        Class::layout,
        "at least 1000 system calls, more than 10 % of them not aligned, and objects of a block or "
        "more",
        "",
        "objects of a block or stripe of the file system, and of at least 64 KiB, begin at a "
        "multiple of it",
        "fewer conflicts of locks and fewer reads before writes; the file grows, to twice its size "
        "at most",
        "D, E, S, U",
        {.parallel = true,
         .created = true,
         .keys = "alignment_bytes alignment_threshold_bytes file_space_strategy"},
        alignment_fires,
        nullptr,
        alignment_act},
    Rule{"2",
         "Only objects of a block or more are aligned",
         Scope::file,
         Class::layout,
         "as rule 1, with at least a hundred small datasets, ten for each large one",
         "",
         "the threshold of the alignment is the block itself",
         "the file does not grow much",
         "D",
         {.parallel = true,
          .created = true,
          .keys = "alignment_bytes alignment_threshold_bytes file_space_strategy"},
         tiny_fires,
         nullptr,
         alignment_act},
    Rule{"3",
         "Larger blocks of metadata",
         Scope::file,
         Class::layout,
         "more than 100 objects are created",
         "fewer than 50 calls of H5Dwrite and H5Dread in a process for each object",
         "metadata blocks of 1 MiB, 4 MiB from 4000 objects on; less where that is more than a "
         "quarter "
         "of the file",
         "metadata is in one place and is written in fewer calls",
         "A, E, L",
         {.created = true, .keys = "meta_block_bytes"},
         meta_block_fires,
         meta_block_held,
         meta_block_act},
    Rule{"4",
         "Small datasets are packed",
         Scope::file,
         Class::layout,
         "at least 50 contiguous datasets below 2 KiB",
         "",
         "small data blocks of what they have together, 64 KiB to 1 MiB",
         "fewer, larger writes",
         "A",
         {.created = true, .keys = "small_data_block_bytes"},
         small_data_fires,
         nullptr,
         small_data_act},
    Rule{"5",
         "Metadata is written by all ranks together",
         Scope::file,
         Class::collective,
         "at least 1000 objects are created",
         "no page buffer",
         "collective metadata writes",
         "one collective write instead of one per rank and object",
         "F, S",
         {.parallel = true,
          .ranks = 64,
          .parallel_fs = true,
          .same_order = true,
          .keys = "collective_metadata_writes",
          .opt_in = true},
         collective_writes_fires,
         page_buffer_held,
         collective_writes_act},
    Rule{"6",
         "Metadata is read by one rank for all",
         Scope::file,
         Class::collective,
         "each rank opens at least 100 objects",
         "",
         "collective metadata reads",
         "no storm of reads; a file can be damaged if ranks make different calls",
         "A, F",
         {.parallel = true,
          .ranks = 64,
          .same_order = true,
          .keys = "collective_metadata_reads",
          .opt_in = true,
          .same_accesses = true},
         collective_reads_fires,
         nullptr,
         collective_reads_act},
    Rule{"9",
         "A paged file",
         Scope::file,
         Class::opt_in,  // its superblock is of version 2: not for the oldest readers
         "at least 5000 opens and reads of metadata in a serial file",
         "the program does not align objects",
         "strategy page, pages of 64 KiB (256 KiB for many objects), no page buffer; readers older "
         "than HDF5 1.10 cannot open the file",
         "metadata is together in pages, apart from the data; without a page buffer HDF5 makes "
         "as many accesses as before",
         "G",
         {.serial = true,
          .created = true,
          .hdf5_major = 1,
          .hdf5_minor = 10,
          .keys = "file_space_strategy page_buffer_bytes page_bytes"},
         pages_fires,
         pages_held,
         pages_act},
    Rule{"10",
         "Alignment or pages, not both",
         Scope::file,
         Class::layout,
         "rules ask for both a paged file and alignment",
         "",
         "nothing: rules 1 and 2 are held back",
         "none",
         "D",
         {},
         ignored_alignment_fires,
         nullptr,
         leave},
    Rule{"24",
         "A newer format for crowded groups",
         Scope::file,
         Class::opt_in,
         "at least 1000 links and attributes, at least 100 per group",
         "",
         "format bounds v110",
         "groups and indexes stay fast when they grow; readers older than HDF5 1.10 "
         "cannot open the file",
         "B",
         {.created = true, .keys = "libver_low libver_high"},
         libver_fires,
         nullptr,
         libver_act},
};

}  // namespace

std::span<const Rule> metadata_rules() { return metadata_table; }

}  // namespace tailrace::intent::rules
