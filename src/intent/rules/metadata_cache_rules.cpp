// SPDX-License-Identifier: Apache-2.0
// Rules of the metadata cache: 7 and 8.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

constexpr std::uint64_t object_bytes = 512;  ///< metadata of an object, about

/// At most: a dataset is one however often it is opened, and of groups nobody knows.
std::uint64_t objects(const Subject& s) {
    const std::uint64_t datasets =
        std::min<std::uint64_t>(metadata(s, "dataset", &Operations::open), s.file.datasets.size());
    return std::max(metadata(s, "", &Operations::create),
                    datasets + metadata(s, "group", &Operations::open));
}

std::optional<Reason> write_burst_fires(const Subject& s) {
    if (!s.file.hdf5 || !created(s)) return std::nullopt;
    const std::uint64_t created_objects = metadata(s, "", &Operations::create);
    const std::uint64_t flushes = s.file.hdf5->flushes.value_or(0) / callers(s);
    // A close writes everything, as a flush does.
    const std::uint64_t closes =
        std::max<std::uint64_t>(s.file.hdf5->opens.value_or(0) / callers(s), 1);
    if (created_objects / closes < 1000 || flushes > 1 || !s.file.hdf5->flushes)
        return std::nullopt;
    Reason reason{say("a burst of ", created_objects, " new objects with ", flushes,
                      " flushes before the close", closes > 1 ? say(" (", closes, " closes)") : "",
                      ": the metadata cache writes out and resizes in between"),
                  {}};
    return reason.note("file.objects_created", created_objects, "objects")
        .note("file.flushes", flushes, "calls");
}

Proposal write_burst_act(const Subject&) {
    return {{{"metadata_cache_evictions", Setting(false), {}},
             {"metadata_cache_initial_bytes", Setting(16 * mib), {}}},
            plan::When::create,
            {},
            {},
            {}};
}

std::optional<Reason> working_set_fires(const Subject& s) {
    if (!s.file.hdf5) return std::nullopt;
    const std::uint64_t count = objects(s);
    const std::uint64_t opens = metadata(s, "", &Operations::open);
    if (count * object_bytes <= 2 * mib || opens < count) return std::nullopt;
    Reason reason{say("up to ", size(count * object_bytes), " of metadata (at most ", count,
                      " objects of about 512 bytes), opened ", opens,
                      " times: more than the 2 MiB that the cache begins with"),
                  {}};
    return reason.note("file.objects", count, "objects").note("file.object_opens", opens, "calls");
}

Proposal working_set_act(const Subject& s) {
    const std::uint64_t wanted = std::min<std::uint64_t>(objects(s) * object_bytes * 2, 64 * mib);
    const std::uint64_t most = std::max<std::uint64_t>(
        std::min({std::max<std::uint64_t>(wanted, 32 * mib), 64 * mib, memory_of_process(s)}),
        4 * mib);
    return {{{"metadata_cache_initial_bytes", Setting(std::min(wanted, most)), {}},
             {"metadata_cache_max_bytes", Setting(most), {}}},
            plan::When::any,
            {},
            {},
            {}};
}

const std::array metadata_cache_table{
    Rule{"7",
         "Metadata of a write burst is kept until the close",
         Scope::file,
         Class::safe,
         "at least 1000 new objects for each close, and at most one flush before it",
         "",
         "metadata cache: no evictions, 16 MiB at the beginning",
         "metadata is written once, at the close",
         "L, S",
         {.created = true, .delays = true, .keys = "metadata_cache_initial_bytes"},
         write_burst_fires,
         nullptr,
         write_burst_act},
    Rule{"8",
         "A metadata cache for many objects that are opened again",
         Scope::file,
         Class::safe,
         "objects x 512 bytes are more than 2 MiB, and opened at least as often as there are "
         "objects",
         "",
         "metadata cache: twice the working set at the beginning, up to 64 MiB",
         "fewer reads of metadata",
         "C, T",
         {.keys = "metadata_cache_initial_bytes"},
         working_set_fires,
         nullptr,
         working_set_act},
};

}  // namespace

std::span<const Rule> metadata_cache_rules() { return metadata_cache_table; }

}  // namespace tailrace::intent::rules
