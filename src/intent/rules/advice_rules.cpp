// SPDX-License-Identifier: Apache-2.0
// What a plan cannot do: 16, 31, 36, 39.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

Proposal advice(std::string text, std::vector<std::string> commands = {}) {
    return {{}, plan::When::any, {}, std::move(text), std::move(commands)};
}

std::string filters_of(const Dataset& dataset) {
    std::string names;
    for (const Filter& filter : dataset.filters)
        names += (names.empty() ? "" : ", ") +
                 (filter.name.empty() ? std::to_string(filter.id) : filter.name);
    return names;
}

std::optional<Reason> uncached_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count bytes = chunk_bytes(dataset);
    if (!bytes || dataset.filters.empty() || calls(dataset.reads) < 2) return std::nullopt;
    if (*bytes <= cache_in_force(s)) return std::nullopt;
    Reason reason{say("a chunk of ", size(*bytes), " with filters (", filters_of(dataset),
                      ") does not fit the chunk cache of ", size(cache_in_force(s)),
                      ": each read decompresses it whole"),
                  {}};
    return reason.note("dataset.chunk_bytes", *bytes, "bytes")
        .note("dataset.cache_in_force", cache_in_force(s), "bytes");
}

Proposal uncached_act(const Subject& s) {
    return advice(say("give the dataset a chunk cache of at least ", size(*chunk_bytes(*s.dataset)),
                      ", or smaller chunks when it is written"));
}

std::optional<Reason> repack_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const Count all = size_bytes(dataset);
    if (dataset.filters.empty() || !all || *all == 0 || calls(dataset.writes) > 0)
        return std::nullopt;
    const std::uint64_t read = moved_bytes(dataset.reads);
    if (read < 4 * *all || *all < mib) return std::nullopt;
    Reason reason{say(size(read), " read of ", size(*all), " stored with ", filters_of(dataset)),
                  {}};
    return reason.note("dataset.bytes_read", read, "bytes").note("dataset.bytes", *all, "bytes");
}

Proposal repack_act(const Subject& s) {
    return advice("keep a copy without filters, or with a faster one, for reading it often",
                  {say("tailrace repack in.h5 --filters ", s.dataset->path, "=none -o out.h5")});
}

std::uint64_t left_open(const Subject& s) {
    std::uint64_t open = 0;
    if (s.file.hdf5)
        for (const auto& [kind, count] : s.file.hdf5->left_open) open += count;
    return open;
}

std::optional<Reason> open_fires(const Subject& s) {
    if (left_open(s) == 0) return std::nullopt;
    std::string kinds;
    for (const auto& [kind, count] : s.file.hdf5->left_open)
        kinds += (kinds.empty() ? "" : ", ") + say(count, " ", kind);
    Reason reason{say("objects were still open when the file was closed: ", kinds), {}};
    return reason.note("file.left_open", left_open(s), "objects");
}

Proposal open_act(const Subject&) {
    return advice(
        "close every object before the file: until then the file stays open, and what is "
        "in the caches is not written");
}

std::optional<Reason> reopened_fires(const Subject& s) {
    const std::uint64_t opens = metadata(s, "dataset", &Operations::open);
    const std::uint64_t datasets = s.file.datasets.size();
    if (datasets == 0 || opens < 10000 || opens < 100 * datasets) return std::nullopt;
    Reason reason{say(datasets, " datasets are opened ", opens, " times"), {}};
    return reason.note("file.dataset_opens", opens, "calls")
        .note("file.datasets", datasets, "datasets");
}

Proposal reopened_act(const Subject&) {
    return advice(
        "keep the datasets open between accesses: each open looks its path up, and its "
        "chunk cache begins empty");
}

const std::array table{
    Rule{"16",
         "A chunk that no cache holds",
         Scope::dataset,
         Class::advice,
         "repeated reads of a filtered dataset whose chunk is larger than its cache",
         "",
         "advice: a larger cache or smaller chunks",
         "a chunk is decompressed once",
         "I",
         {},
         uncached_fires,
         nullptr,
         uncached_act},
    Rule{"31",
         "A copy for reading",
         Scope::dataset,
         Class::advice,
         "a filtered dataset of 1 MiB and more that is only read, four times over",
         "",
         "advice: repack without filters or with a faster one",
         "no time for decompression",
         "I",
         {},
         repack_fires,
         nullptr,
         repack_act},
    Rule{"36",
         "Objects left open",
         Scope::file,
         Class::advice,
         "objects are open when the file is closed",
         "",
         "advice: close them",
         "the file is complete when it is closed",
         "A",
         {},
         open_fires,
         nullptr,
         open_act},
    Rule{"39",
         "Datasets opened again and again",
         Scope::file,
         Class::advice,
         "10000 and more opens, a hundred of each dataset",
         "",
         "advice: keep them open",
         "fewer look-ups",
         "T",
         {},
         reopened_fires,
         nullptr,
         reopened_act},
};

}  // namespace

std::span<const Rule> advice_rules() { return table; }

}  // namespace tailrace::intent::rules
