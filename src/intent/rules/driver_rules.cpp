// SPDX-License-Identifier: Apache-2.0
// Rules of file drivers and of opening: 32, 33, 34, 35, 37, 40.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/unseen.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

std::uint64_t file_bytes(const Subject& s) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : s.file.datasets) bytes += size_bytes(dataset).value_or(0);
    return std::max(bytes, bytes_written(s));
}

std::optional<Reason> core_fires(const Subject& s) {
    if (!s.file.hdf5 || parallel(s)) return std::nullopt;
    const std::uint64_t operations = hdf5_calls(s);
    const std::uint64_t bytes = bytes_read(s) + bytes_written(s);
    if (operations < 10000 || bytes / operations >= 4 * kib || file_bytes(s) == 0)
        return std::nullopt;
    Reason reason{say(operations, " calls of ", size(bytes / operations),
                      " on average in a serial file of ", size(file_bytes(s))),
                  {}};
    return reason.note("file.calls", operations, "calls")
        .note("file.bytes", file_bytes(s), "bytes");
}

/// Opened for nothing but reading, as far as that is known.
bool only_read(const Subject& s) {
    const Hdf5File& file = *s.file.hdf5;
    return bytes_written(s) == 0 && file.creates.value_or(0) == 0 &&
           (!file.read_only_opens || *file.read_only_opens >= file.opens.value_or(0));
}

std::optional<Held> core_held(const Subject& s) {
    if (!only_read(s))
        return Held{Guard::written,
                    "it is written: its data would be in memory alone until the close, "
                    "however much the next run writes"};
    for (const Dataset& dataset : s.file.datasets)
        if (dataset.layout.value_or("virtual") == "virtual")
            return Held{Guard::virtual_dataset,
                        say("it has ", dataset.layout ? "" : "or may have ",
                            "a virtual dataset, and the files behind it would be in memory too")};
    const std::uint64_t memory = memory_of_process(s);
    if (file_bytes(s) + 64 * mib > memory)
        return Held{Guard::memory, say("the file has ", size(file_bytes(s)),
                                       ", and a process may have ", size(memory), " for it")};
    return std::nullopt;
}

Proposal core_act(const Subject&) {
    return {{{"driver", Setting(std::string("core")), {}},
             {"core_increment_bytes", Setting(64 * mib), {}},
             {"core_backing_store", Setting(false), {}}},
            plan::When::open,
            {},
            {},
            {}};
}

/// Sequential and large: system calls of `least` bytes and more.
bool large_sequential(const Subject& s, std::uint64_t least) {
    const Count bytes = posix_write_bytes(s);
    if (!bytes || *bytes < least) return false;
    const PosixTransfers& writes = *s.file.posix->writes;
    return writes.sequential.value_or(0) * 10 >= writes.calls.value_or(1) * 9;
}

std::optional<Reason> direct_fires(const Subject& s) {
    if (!s.file.hdf5 || parallel(s) || !created(s) || !large_sequential(s, 4 * mib))
        return std::nullopt;
    if (ranks(s) < 2 || bytes_written(s) < gib) return std::nullopt;
    if (s.file.posix->not_aligned_in_file.value_or(1) * 10 > *s.file.posix->writes->calls)
        return std::nullopt;
    Reason reason{say("a file per process, ", size(bytes_written(s)), " in aligned calls of ",
                      size(*posix_write_bytes(s))),
                  {}};
    return reason.note("file.bytes_written", bytes_written(s), "bytes");
}

Proposal direct_act(const Subject&) {
    return {.settings = {{.key = "driver", .value = Setting(std::string("direct"))}},
            .when = plan::When::create};
}

std::optional<Reason> subfiling_fires(const Subject& s) {
    if (!parallel(s) || nodes(s) < 8 || bytes_written(s) < 8 * gib) return std::nullopt;
    Reason reason{say(file_ranks(s), " ranks", on_nodes(s), " write ", size(bytes_written(s)),
                      " into one file"),
                  {}};
    return reason.note("run.nodes", nodes(s), "nodes")
        .note("file.bytes_written", bytes_written(s), "bytes");
}

std::optional<Held> subfiling_held(const Subject& s) {
    for (const Dataset& dataset : s.file.datasets)
        if (calls(dataset.reads) > 0)
            return Held{Guard::readers,
                        "the file is read in the same run; what reads subfiles has to "
                        "know them"};
    return unseen_transfers(s);
}

Proposal subfiling_act(const Subject&) {
    return {{{"driver", Setting(std::string("subfiling")), {}},
             {"subfiling_stripe_bytes", Setting(32 * mib), {}},
             {"subfiling_concentrators_per_node", Setting(std::uint64_t{1}), {}}},
            plan::When::any,
            {},
            {},
            {}};
}

std::optional<Reason> evict_fires(const Subject& s) {
    const std::uint64_t opens =
        metadata(s, "dataset", &Operations::open) + metadata(s, "group", &Operations::open);
    if (opens < 10000) return std::nullopt;
    const std::uint64_t datasets = s.file.datasets.size();
    if (datasets == 0 || opens > datasets * 2) return std::nullopt;
    Reason reason{say(opens, " objects are opened, about once each"), {}};
    return reason.note("file.object_opens", opens, "calls");
}

Proposal evict_act(const Subject&) {
    return {.settings = {{.key = "evict_on_close", .value = Setting(true)}}};
}

std::optional<Reason> locking_fires(const Subject& s) {
    if (!s.file.hdf5 || s.file.hdf5->read_only_opens.value_or(0) == 0) return std::nullopt;
    const std::string type = fs_type(s);
    if (*s.file.hdf5->read_only_opens < s.file.hdf5->opens.value_or(0)) return std::nullopt;
    if (type != "nfs" && type != "nfs4" && type != "lustre") return std::nullopt;
    Reason reason{say("opened ", *s.file.hdf5->read_only_opens, " times for reading only, on ",
                      type, ", where locks may be slow or refused"),
                  {}};
    return reason.note("file.read_only_opens", *s.file.hdf5->read_only_opens, "calls")
        .note("fs.type", type);
}

Proposal locking_act(const Subject&) {
    return {.settings = {{.key = "file_locking", .value = Setting(false)}},
            .when = plan::When::open};
}

std::optional<Reason> image_fires(const Subject& s) {
    if (!s.file.hdf5 || parallel(s)) return std::nullopt;
    const std::uint64_t opens = s.file.hdf5->opens.value_or(0);
    if (opens < 20 || metadata(s, "", &Operations::open) < opens * 100 || !created(s))
        return std::nullopt;
    Reason reason{say("opened ", opens, " times, and each time about ",
                      metadata(s, "", &Operations::open) / opens, " objects"),
                  {}};
    return reason.note("file.opens", opens, "calls");
}

Proposal image_act(const Subject&) {
    return {.settings = {{.key = "metadata_cache_image", .value = Setting(true)}},
            .when = plan::When::create};
}

const std::array driver_table{
    Rule{"32",
         "The file in memory",
         Scope::file,
         Class::opt_in,
         "at least 10000 calls below 4 KiB on average in a serial file",
         "it is only read, within the memory of a process, and has no virtual datasets",
         "core driver, which reads the file at the open and writes nothing",
         "accesses at the speed of memory; the open takes longer, so look at the whole run",
         "A, T",
         {.serial = true, .keys = "driver"},
         core_fires,
         core_held,
         core_act},
    Rule{"33",
         "Around the page cache",
         Scope::file,
         Class::opt_in,
         "a file per process, at least 1 GiB in aligned sequential calls of at least 4 MiB",
         "",
         "direct driver",
         "no copy through the page cache; it needs an HDF5 built with this driver",
         "A",
         {.serial = true, .created = true, .keys = "driver"},
         direct_fires,
         nullptr,
         direct_act},
    Rule{"34",
         "A subfile per node",
         Scope::file,
         Class::opt_in,
         "at least 8 nodes write at least 8 GiB into one file",
         "not read in the same run; where the program has MPI_THREAD_MULTIPLE, and an old file its "
         "subfiles",
         "subfiling driver, stripes of 32 MiB, one concentrator per node",
         "1.2 to 6 times in published cases; the file becomes several, which only a program with "
         "this "
         "driver opens (h5fuse makes one of them)",
         "R, A",
         {.parallel = true,
          .parallel_fs = true,
          .created = true,
          .hdf5_major = 1,
          .hdf5_minor = 14,
          .keys = "driver"},
         subfiling_fires,
         subfiling_held,
         subfiling_act},
    Rule{"35",
         "Metadata leaves the cache with its object",
         Scope::file,
         Class::opt_in,
         "at least 10000 objects are opened, about once each, in a serial file",
         "",
         "evict on close",
         "less memory; HDF5 up to 2.2 fails where a program copies groups (H5Ocopy) with it",
         "A",
         {.serial = true, .keys = "evict_on_close"},
         evict_fires,
         nullptr,
         evict_act},
    Rule{"37",
         "No lock for reading",
         Scope::file,
         Class::opt_in,
         "only opened for reading, on NFS or Lustre",
         "",
         "file locking off for these opens",
         "no failed opens if locks are refused; nobody may write meanwhile",
         "A",
         {.keys = "file_locking"},
         locking_fires,
         nullptr,
         locking_act},
    Rule{"40",
         "Metadata is read in one piece",
         Scope::file,
         Class::opt_in,
         "at least 20 opens of a serial file, each of at least 100 objects",
         "",
         "an image of the metadata cache in the file",
         "faster opens",
         "A",
         {.serial = true,
          .created = true,
          .hdf5_major = 1,
          .hdf5_minor = 10,
          .keys = "metadata_cache_image"},
         image_fires,
         nullptr,
         image_act},
};

}  // namespace

std::span<const Rule> driver_rules() { return driver_table; }

}  // namespace tailrace::intent::rules
