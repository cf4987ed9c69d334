// SPDX-License-Identifier: Apache-2.0
// What a plan cannot do: 16, 31, 36, 39, 75, 76.
#include <algorithm>
#include <array>

#include "intent/rules/read_cost.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

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

/// Filtered, of some size, only read, and that again and again.
bool hot(const Dataset& dataset) {
    const Count all = size_bytes(dataset);
    return !dataset.filters.empty() && all && *all >= mib && calls(dataset.writes) == 0 &&
           moved_bytes(dataset.reads) / 4 >= *all;
}

std::optional<Reason> repack_fires(const Subject& s) {
    const Dataset* first = nullptr;
    std::uint64_t count = 0, read = 0, all = 0;
    for (const Dataset& dataset : s.file.datasets) {
        if (!hot(dataset)) continue;
        if (first == nullptr) first = &dataset;
        ++count;
        read += moved_bytes(dataset.reads);
        all += *size_bytes(dataset);
    }
    if (first == nullptr) return std::nullopt;
    Reason reason{say(first->path, count > 1 ? say(" and ", count - 1, " more") : "", ": ",
                      size(read), " read of ", size(all), " stored with ", filters_of(*first)),
                  {}};
    return reason.note("file.hot_datasets", count, "datasets")
        .note("file.bytes_read", read, "bytes")
        .note("file.bytes", all, "bytes");
}

std::optional<Held> repack_held(const Subject& s) {
    if (!s.file.hdf5) return Held{Guard::format, "repack rewrites HDF5 and netCDF-4 files only"};
    return std::nullopt;
}

/// As an option of `tailrace repack` names a dataset: what it would take for a pattern, or for the
/// end of the name, becomes a pattern that matches it.
std::string option_name(const std::string& path) {
    std::string name;
    for (const char letter : path) {
        if (letter == '*' || letter == '?' || letter == '[')
            name += say("[", std::string(1, letter), "]");
        else
            name += letter == '=' ? '?' : letter;
    }
    return name;
}

/// "/data/f.plain.h5" of "/data/f.h5".
std::string copy_of(const std::string& path) {
    const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    const std::size_t dot = path.rfind('.');
    const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
    return path.substr(0, at) + ".plain" + path.substr(at);
}

Proposal repack_act(const Subject& s) {
    constexpr std::size_t most = 16;  // options of one command
    std::vector<std::string> names;
    for (const Dataset& dataset : s.file.datasets)
        if (hot(dataset)) names.push_back(option_name(dataset.path));
    if (names.size() > most) names = {"/*"};
    std::string command = "tailrace repack " + shell_path(s.file.path);
    for (const std::string& name : names) command += " --filters " + shell_word(name + "=none");
    return advice("keep a copy without filters, or with a faster one, for reading it often",
                  {command + " -o " + shell_path(copy_of(s.file.path))});
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

/// The chunks of a file that is there are beyond a plan.
std::optional<Reason> relaid_fires(const Subject& s) {
    const std::vector<Relaid> all = relaid_for_reads_of_file(s);
    if (all.empty()) return std::nullopt;
    const Relaid& first = all.front();
    const Dataset& dataset =
        *std::ranges::find(s.file.datasets, first.dataset, [](const Dataset& d) { return d.path; });
    const std::string lies =
        chunked(dataset) ? say("chunks of ", extents(dataset.chunk)) : "a contiguous dataset";
    const std::string more = all.size() > 1 ? say(" (", all.size() - 1, " more like it)") : "";
    const std::uint64_t made = calls(dataset.reads);
    Reason reason{say(first.dataset, ": ", made, " reads",
                      first.most.calls < made ? ", most often of " : " of ",
                      extents(first.most.length), " elements from ", lies, "; chunks of ",
                      extents(first.chunk), " would suit these reads", more),
                  {}};
    reason.note("file.datasets", std::uint64_t{all.size()}, "datasets")
        .note("dataset.reads.calls", made, "calls");
    note_saving(reason, saving_of(all), s);
    return reason;
}

Proposal relaid_act(const Subject& s) {
    return advice(
        "the file exists already, and is only read: repack it with chunks for these reads",
        {say("tailrace repack ", shell_path(s.file.path), " --profile profile.json --dry-run")});
}

// --- 76: a virtual dataset ----------------------------------------------------------------------
/// Files that HDF5 opens by itself for a virtual dataset: no program is seen to open them.
struct Behind {
    std::uint64_t files = 0, opens = 0, bytes_read = 0, bytes = 0;
    std::string one;  ///< of them

    /// How often each byte is read, or each file is opened, whichever is more.
    [[nodiscard]] double times() const {
        const auto often = static_cast<double>(opens) / static_cast<double>(files);
        if (bytes == 0) return often;
        return std::max(often, static_cast<double>(bytes_read) / static_cast<double>(bytes));
    }
};

std::string ending_of(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos || path.find('/', dot) != std::string::npos ? ""
                                                                                : path.substr(dot);
}

Behind files_behind(const Subject& s) {
    Behind found;
    for (const File& file : s.profile.files) {
        if (file.hdf5 || !file.posix || !file.posix->reads || file.path == s.file.path) continue;
        if (ending_of(file.path) != ending_of(s.file.path)) continue;
        const PosixTransfers& reads = *file.posix->reads;
        if (found.files++ == 0) found.one = file.path;
        found.opens += file.posix->opens.value_or(0);
        found.bytes_read += reads.bytes.value_or(0);
        if (reads.highest_byte) found.bytes += *reads.highest_byte + 1;
    }
    return found;
}

std::optional<Reason> across_sources_fires(const Subject& s) {
    const std::uint64_t made = calls(s.dataset->reads);
    if (s.dataset->layout.value_or("") != "virtual" || made < 2) return std::nullopt;
    const Behind behind = files_behind(s);
    if (behind.files < 2 || behind.times() < 4) return std::nullopt;
    Reason reason{
        say(made, " reads of a virtual dataset go through ", behind.files, " files behind it (",
            behind.one, " and others): they were opened ", behind.opens, " times, and ",
            size(behind.bytes_read), " were read of their ", size(behind.bytes)),
        {}};
    reason.note("dataset.reads.calls", made, "calls")
        .note("behind.files", behind.files, "files")
        .note("behind.opens", behind.opens, "calls")
        .note("behind.bytes_read", behind.bytes_read, "bytes")
        .note("behind.bytes", behind.bytes, "bytes");
    note_saving(reason, saving_of(*s.dataset->reads, behind.times(), 1), s);
    return reason;
}

Proposal across_sources_act(const Subject&) {
    return advice(
        "go file by file: open each source itself, once, and take everything from it that is "
        "wanted before the next one");
}

const std::array advice_table{
    Rule{"16",
         "A chunk that no cache holds",
         Scope::dataset,
         Class::advice,
         "repeated reads of a filtered dataset whose chunk is larger than its cache",
         "",
         "advice: a larger cache or smaller chunks",
         "calls in a row that read of one chunk decompress it once",
         "I",
         {},
         uncached_fires,
         nullptr,
         uncached_act},
    Rule{"31",
         "A copy for reading",
         Scope::file,
         Class::advice,
         "filtered datasets of at least 1 MiB that are only read, four times over",
         "a file of HDF5",
         "advice: repack without filters or with a faster one",
         "no time for decompression",
         "I",
         {},
         repack_fires,
         repack_held,
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
         "at least 10000 opens, a hundred of each dataset",
         "",
         "advice: keep them open",
         "fewer look-ups",
         "T",
         {},
         reopened_fires,
         nullptr,
         reopened_act},
    Rule{"75",
         "Other chunks for a file that is only read",
         Scope::file,
         Class::advice,
         "datasets of at least 1 MiB whose reads would move and unpack half as much from other "
         "chunks, or less, by the estimate that `tailrace repack --profile` makes",
         "",
         "advice: repack the file for these reads",
         "as estimated from the reads, the cache and how often they go to another chunk",
         "H, I",
         {},
         relaid_fires,
         nullptr,
         relaid_act},
    Rule{"76",
         "A virtual dataset read across its sources",
         Scope::dataset,
         Class::advice,
         "reads of a virtual dataset, and at least two files behind it that are opened, or whose "
         "bytes are read, at least four times each",
         "",
         "advice: read the sources one after the other",
         "as estimated from how often the files behind it are opened and read",
         "H",
         {},
         across_sources_fires,
         nullptr,
         across_sources_act},
};

}  // namespace

std::span<const Rule> advice_rules() { return advice_table; }

}  // namespace tailrace::intent::rules
