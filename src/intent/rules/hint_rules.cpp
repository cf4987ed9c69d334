// SPDX-License-Identifier: Apache-2.0
// Rules of MPI-IO hints and of striping: 41 to 48.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr std::uint64_t enough = 100;  ///< calls that a hint is worth thinking about

std::string hint(const char* name) { return std::string(plan::hint_prefix) + name; }

Set set(const char* name, const std::string& value) { return {hint(name), Setting(value), {}}; }

/// Bytes of a usual MPI-IO call; 0: not known.
std::uint64_t usual_bytes(const std::optional<MpiioTransfers>& side) {
    if (!side || !side->bytes) return 0;
    const std::uint64_t count = side->collective.value_or(0) + side->independent.value_or(0) +
                                side->split.value_or(0) + side->nonblocking.value_or(0);
    return count == 0 ? 0 : *side->bytes / count;
}

std::uint64_t stripes(const Subject& s) {
    return s.file.lustre ? s.file.lustre->stripe_count.value_or(0) : 0;
}

std::optional<Reason> collective_fires(const Subject& s) {
    const std::uint64_t count = mpiio_calls(s, true);
    if (count < enough) return std::nullopt;
    Reason reason{say(count, " collective calls by ", counted(file_ranks(s), "rank"), on_nodes(s)),
                  {}};
    reason.note("mpiio.collective_calls", count, "calls");
    if (const auto known = known_nodes(s)) reason.note("run.nodes", *known, "nodes");
    if (stripes(s) > 0) reason.note("lustre.stripe_count", stripes(s), "stripes");
    return reason;
}

/// What PnetCDF creates is left to rule 53.
std::optional<Reason> nodes_fires(const Subject& s) {
    if (s.file.pnetcdf && s.file.pnetcdf->creates.value_or(0) > 0) return std::nullopt;
    return collective_fires(s);
}

std::optional<Held> nodes_held(const Subject& s) {
    if (!known_nodes(s))
        return Held{Guard::nodes,
                    "not known on how many nodes it ran: a profile taken by tailrace says"};
    if (nodes(s) < 2)
        return Held{Guard::nodes, "one node: there is nothing to balance between nodes"};
    return std::nullopt;
}

Proposal nodes_act(const Subject& s) {
    return {.settings = {set("cb_nodes", std::to_string(aggregators(s)))}};
}

/// What a buffer is a multiple of: the stripe, so that no two aggregators share one.
std::uint64_t buffer_unit(const Subject& s) {
    return std::max<std::uint64_t>(fs_block(s).value_or(mib), 4 * kib);
}

constexpr std::uint64_t default_buffer = 16 * mib;  ///< of ROMIO, per aggregator

/// The most that a buffer may have: what is worth it, and half of what the process may have, since
/// ROMIO exchanges as much as it writes.
std::uint64_t largest_buffer(const Subject& s) {
    const std::uint64_t wanted = bytes_written(s) + bytes_read(s) >= gib ? 64 * mib : 32 * mib;
    return std::min(wanted, memory_of_process(s) / 2);
}

bool on_one_node(const Subject& s) { return known_nodes(s) == 1 && !parallel_fs(s); }

std::optional<Held> buffer_held(const Subject& s) {
    const std::uint64_t bytes = bytes_written(s) + bytes_read(s);
    if (bytes < 64 * mib)
        return Held{Guard::amount,
                    say(size(bytes), " move: one round of 16 MiB per node is enough")};
    // Measured on two cores: 7.0 s became 11.2 s for three ranks that write 24 MiB together a call.
    if (on_one_node(s))
        return Held{Guard::nodes,
                    "one node and its own file system: a round costs next to nothing, and "
                    "a larger buffer is memory that each has to fill first"};
    const std::uint64_t most = largest_buffer(s);
    if (most <= default_buffer)
        return Held{Guard::memory, say("a process may have ", size(memory_of_process(s)),
                                       ": half of it is no more than the 16 MiB of the default")};
    if (most / buffer_unit(s) * buffer_unit(s) <= default_buffer)
        return Held{Guard::stripe, say("no multiple of the stripe of ", size(buffer_unit(s)),
                                       " is above the default of 16 MiB and within ", size(most))};
    return std::nullopt;
}

Proposal buffer_act(const Subject& s) {
    const std::uint64_t bytes = largest_buffer(s) / buffer_unit(s) * buffer_unit(s);
    return {.settings = {set("cb_buffer_size", std::to_string(bytes))}};
}

/// By itself ROMIO collects what ranks interleave; "enable" adds blocks side by side.
std::optional<Held> buffering_held(const Subject& s) {
    if (!on_one_node(s)) return std::nullopt;
    return Held{Guard::nodes,
                "one node and its own file system: blocks of ranks side by side are sent to "
                "another rank for nothing, and ROMIO collects by itself what is interleaved"};
}

Proposal buffering_act(const Subject& s) {
    std::vector<Set> sets;
    const std::uint64_t written = s.file.mpiio ? usual_bytes(s.file.mpiio->writes) : 0;
    const std::uint64_t read = s.file.mpiio ? usual_bytes(s.file.mpiio->reads) : 0;
    if (written > 0)
        sets.push_back(set("romio_cb_write", written < 4 * mib ? "enable" : "automatic"));
    if (read > 0) sets.push_back(set("romio_cb_read", read < 4 * mib ? "enable" : "automatic"));
    return {.settings = sets};
}

std::optional<Reason> sieve_writes_fires(const Subject& s) {
    if (!s.file.mpiio || mpiio_calls(s, false) + mpiio_calls(s, true) < enough) return std::nullopt;
    if (bytes_written(s) == 0 || s.file.mpiio->views.value_or(0) == 0) return std::nullopt;
    Reason reason{say("writes through ", *s.file.mpiio->views,
                      " views: across gaps data sieving reads before it writes, and locks"),
                  {}};
    return reason.note("mpiio.views", *s.file.mpiio->views, "calls");
}

Proposal sieve_writes_act(const Subject&) {
    return {{set("romio_ds_write", "disable"), set("romio_lustre_ds_in_coll", "disable")},
            plan::When::any,
            {},
            {},
            {}};
}

std::optional<Reason> sieve_reads_fires(const Subject& s) {
    if (!s.file.mpiio || !s.file.mpiio->reads) return std::nullopt;
    const std::uint64_t views = s.file.mpiio->views.value_or(0);
    // HDF5 sets a view for a collective call and takes it back; its other calls go through none.
    const std::uint64_t of_hdf5 = s.file.hdf5 ? 2 * mpiio_calls(s, true) : 0;
    const std::uint64_t count = s.file.mpiio->reads->independent.value_or(0);
    const std::uint64_t bytes = usual_bytes(s.file.mpiio->reads);
    if (views <= of_hdf5 || count < enough || bytes == 0 || bytes >= 256 * kib) return std::nullopt;
    Reason reason{say(count, " independent reads, and ", views, " views; a read has ", size(bytes),
                      " on average"),
                  {}};
    return reason.note("mpiio.independent_reads", count, "calls");
}

std::optional<Held> sieve_reads_held(const Subject& s) {
    if (!parallel(s) && s.file.hdf5)
        return Held{Guard::serial, "HDF5 opened the file without MPI-IO"};
    return std::nullopt;
}

Proposal sieve_reads_act(const Subject&) {
    return {{set("romio_ds_read", "enable"), set("ind_rd_buffer_size", std::to_string(4 * mib))},
            plan::When::any,
            {},
            {},
            {}};
}

std::optional<Reason> deferred_fires(const Subject& s) {
    if (mpiio_calls(s, true) < enough || mpiio_calls(s, false) > 0) return std::nullopt;
    Reason reason{say("nothing but collective calls (", mpiio_calls(s, true), ") by ",
                      file_ranks(s), " ranks, each of which opens the file"),
                  {}};
    return reason.note("mpiio.collective_calls", mpiio_calls(s, true), "calls");
}

std::optional<Held> deferred_held(const Subject& s) {
    if (s.file.hdf5)
        return Held{Guard::metadata,
                    "HDF5 writes its metadata independently, which this hint forbids"};
    return std::nullopt;
}

Proposal deferred_act(const Subject&) { return {.settings = {set("romio_no_indep_rw", "true")}}; }

std::uint64_t stripes_for(std::uint64_t bytes) {
    return bytes > 100 * gib ? 72 : bytes > 10 * gib ? 24 : 8;
}

std::optional<Reason> striping_fires(const Subject& s) {
    const std::uint64_t bytes = bytes_written(s);
    if (bytes <= gib || file_ranks(s) < 2) return std::nullopt;
    if (stripes(s) >= stripes_for(bytes)) return std::nullopt;
    Reason reason{say(size(bytes), " written by ", file_ranks(s), " ranks to one file",
                      stripes(s) > 0 ? say(" on ", counted(stripes(s), "stripe")) : ""),
                  {}};
    return reason.note("file.bytes_written", bytes, "bytes")
        .note("lustre.stripe_count", stripes(s), "stripes");
}

constexpr std::string_view striping_keys = "hint.striping_factor hint.striping_unit";

/// What the file has or, where rule 47 gives it others, gets; 0: not known.
std::uint64_t stripes_then(const Subject& s) {
    const bool made = created(s) || (!s.file.hdf5 && !s.file.pnetcdf);
    const bool gets = made && s.allowed.contains(Class::layout) && striping_fires(s) &&
                      !unmet({.fs = "lustre", .keys = striping_keys}, s);
    return gets ? stripes_for(bytes_written(s)) : stripes(s);
}

Proposal striping_act(const Subject& s) {
    const std::uint64_t count = stripes_for(bytes_written(s));
    const std::uint64_t unit = std::max<std::uint64_t>(fs_block(s).value_or(mib), mib);
    return {
        {set("striping_factor", std::to_string(count)), set("striping_unit", std::to_string(unit))},
        plan::When::create,
        {},
        say("stripe the folder before the run, which also serves programs without hints"),
        {say("lfs setstripe -c ", count, " -S ", unit / kib, "k ",
             shell_path(folder_of(s.file.path)))}};
}

std::optional<Reason> one_stripe_fires(const Subject& s) {
    if (file_ranks(s) > 1 || ranks(s) < 2 || stripes(s) <= 1) return std::nullopt;
    if (s.file.processes.size() > 1 || bytes_written(s) == 0) return std::nullopt;
    Reason reason{say("written by one of ", ranks(s), " ranks, on ", counted(stripes(s), "stripe")),
                  {}};
    return reason.note("lustre.stripe_count", stripes(s), "stripes");
}

std::optional<Held> one_stripe_held(const Subject& s) {
    if (bytes_written(s) > 10 * gib)
        return Held{Guard::size,
                    say(size(bytes_written(s)),
                        " in one file: one target would be slow, and may be too small")};
    return std::nullopt;
}

Proposal one_stripe_act(const Subject& s) {
    return {{},
            plan::When::create,
            {},
            "one stripe for the files of a folder with a file per rank",
            {say("lfs setstripe -c 1 ", shell_path(folder_of(s.file.path)))}};
}

const std::array hint_table{
    Rule{"41",
         "An aggregator per node or stripe",
         Scope::file,
         Class::safe,
         "at least 100 collective calls, not below a PnetCDF that creates the file",
         "more than one node",
         "hint cb_nodes: the nodes, at most the stripes",
         "aggregators that do not share a target",
         "N, S",
         {.keys = "hint.cb_nodes", .aggregators = true},
         nodes_fires,
         nodes_held,
         nodes_act},
    Rule{"42",
         "Fewer rounds of collective buffering",
         Scope::file,
         Class::safe,
         "at least 100 collective calls",
         "at least 64 MiB move; from two nodes on or on a parallel file system; more than the "
         "default of 16 MiB within half of what a process may "
         "have of the memory, and a multiple of the stripe",
         "hint cb_buffer_size: at most 32 MiB, from 1 GiB on 64 MiB, a multiple of the stripe",
         "fewer rounds",
         "N, S",
         {.keys = "hint.cb_buffer_size"},
         collective_fires,
         buffer_held,
         buffer_act},
    Rule{"43",
         "Collective buffering for small pieces",
         Scope::file,
         Class::safe,
         "at least 100 collective calls",
         "it is not one node with a file system of its own",
         "hints romio_cb_write and romio_cb_read: enable below 4 MiB per call, else automatic",
         "small pieces are written together",
         "N",
         {.romio = true, .keys = "hint.romio_cb_write hint.romio_cb_read"},
         collective_fires,
         buffering_held,
         buffering_act},
    Rule{"44",
         "No data sieving for writes on Lustre",
         Scope::file,
         Class::safe,
         "strided writes through views",
         "",
         "hints romio_ds_write and romio_lustre_ds_in_coll: disable",
         "no reads before writes, no locks for them",
         "N, P, S",
         {.fs = "lustre", .romio = true, .keys = "hint.romio_ds_write"},
         sieve_writes_fires,
         nullptr,
         sieve_writes_act},
    Rule{"45",
         "Data sieving for sparse reads",
         Scope::file,
         Class::safe,
         "at least 100 independent reads below 256 KiB on average, and views that are not those of "
         "HDF5's collective calls",
         "opened with MPI-IO",
         "hints romio_ds_read: enable, ind_rd_buffer_size: 4 MiB",
         "fewer, larger reads",
         "N",
         {.romio = true, .keys = "hint.romio_ds_read hint.ind_rd_buffer_size"},
         sieve_reads_fires,
         sieve_reads_held,
         sieve_reads_act},
    Rule{"46",
         "Only aggregators open the file",
         Scope::file,
         Class::opt_in,
         "at least 100 calls, all of them collective",
         "not under HDF5, whose metadata is written "
         "independently",
         "hint romio_no_indep_rw: true",
         "no storm of opens",
         "N",
         {.ranks = 64, .romio = true, .keys = "hint.romio_no_indep_rw"},
         deferred_fires,
         deferred_held,
         deferred_act},
    Rule{"47",
         "Stripes for a large shared file",
         Scope::file,
         Class::layout,
         "more than 1 GiB by several ranks on few stripes",
         "",
         "hints striping_factor 8, from 10 GiB 24, from 100 GiB 72, and striping_unit; the lfs "
         "command",
         "all targets write",
         "Q, N",
         {.fs = "lustre", .keys = striping_keys},
         striping_fires,
         nullptr,
         striping_act},
    Rule{"48",
         "One stripe for a file per process",
         Scope::file,
         Class::advice,
         "one of many ranks writes a file on several stripes",
         "at most 10 GiB in a file",
         "the lfs command",
         "less load on the metadata server and the targets",
         "Q",
         {.fs = "lustre"},
         one_stripe_fires,
         one_stripe_held,
         one_stripe_act},
};

}  // namespace

std::uint64_t aggregators(const Subject& s) {
    const std::uint64_t most = stripes_then(s);
    return most > 0 ? std::min(nodes(s), most) : nodes(s);
}

std::span<const Rule> hint_rules() { return hint_table; }

}  // namespace tailrace::intent::rules
