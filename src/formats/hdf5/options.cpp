// SPDX-License-Identifier: Apache-2.0
// The keys of format hdf5. No foreign header: they are known, and checked, in every build.
#include <algorithm>

#include "formats/keys.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Config;
using core::Key;
using core::Shape;

constexpr unsigned zfp_filter_id = 32013;  // as registered with The HDF Group
constexpr const char* group = "HDF5";

Key key(const char* name, Shape shape, const char* help) {
    Key one;
    one.name = name;
    one.shape = shape;
    one.help = help;
    one.group = group;
    one.used_by = {"hdf5"};
    return one;
}

void register_layout_keys(core::KeyTable& table) {
    Key deflate = key("deflate", Shape::number,
                      "compress chunks with zlib at this level; needs collective_write; 0: off");
    deflate.max = 9;
    table.add(deflate);
    Key zfp = key("zfp", Shape::number, "1: compress with the zfp plugin (filter 32013); 0: off");
    zfp.max = 1;
    table.add(zfp);
    Key filter = key("filter", Shape::words,
                     "apply a registered filter by its number, with its parameters; needs "
                     "collective_write");
    filter.choices = {"ID", "[PARAMETER...]"};
    filter.repeatable = true;
    table.add(filter);
    table.add(key("subfile", Shape::number,
                  "use the subfiling driver with this many I/O concentrators, contiguous; 0: off"));
    Key libver = key("libver", Shape::words,
                     "bounds of the file format versions: earliest, v18, v110, v112, v114, v200, "
                     "latest");
    libver.choices = {"LOW", "[HIGH]"};
    libver.most_words = 2;
    libver.default_text = "v110";
    table.add(libver);
    Key block = key("metadata_block_size", Shape::number,
                    "size of the blocks in which metadata is set aside; 0: the library's default");
    block.unit = "bytes";
    table.add(block);
}

AllocTime alloc_time_of(const Config& config) {
    const std::string& word = config.text("alloc_time");
    if (config.flag("early_allocation") && config.given("alloc_time") && word != "early")
        throw config.error("alloc_time",
                           "alloc_time " + word + " contradicts early_allocation (" +
                               config.place("early_allocation") + ")",
                           "keep one of the two");
    if (word == "late") return AllocTime::late;
    if (word == "incremental") return AllocTime::incremental;
    if (word == "default") return AllocTime::library_default;
    const bool switched_off = config.given("early_allocation") && !config.flag("early_allocation");
    return switched_off && !config.given("alloc_time") ? AllocTime::library_default
                                                       : AllocTime::early;
}

std::vector<Filter> all_filters(const Config& config) {
    std::vector<Filter> filters;
    if (config.has("zfp") && config.number("zfp") != 0)
        filters.push_back({zfp_filter_id, "zfp", {3, 0, 0, 0}});  // accuracy mode, tolerance 0.0
    for (Filter& filter : filters_of(config)) filters.push_back(std::move(filter));
    return filters;
}

void set_libver(const Config& config, Options& options) {
    static const std::vector<std::string> names{"earliest", "v18",  "v110",  "v112",
                                                "v114",     "v200", "latest"};
    const core::Words& words = config.words("libver");
    std::size_t at[2] = {0, 0};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto found = std::find(names.begin(), names.end(), words[i]);
        if (found == names.end()) {
            const std::string guess = core::nearest(words[i], names);
            throw config.error("libver",
                               "libver knows no " + core::in_quotes(words[i]) +
                                   (guess.empty() ? "" : ". Did you mean \"" + guess + "\"?"),
                               "take one of earliest, v18, v110, v112, v114, v200, latest");
        }
        at[i] = static_cast<std::size_t>(found - names.begin());
    }
    if (words.size() == 1) at[1] = std::max<std::size_t>(at[0], 1);
    if (at[1] < at[0] || at[1] == 0)
        throw config.error("libver", "libver " + words[0] + " " + words.back() + " is no range",
                           "the second bound must not be earlier than the first, nor `earliest`");
    options.libver_low = names[at[0]];
    options.libver_high = names[at[1]];
}

/// Combinations that HDF5 itself would refuse, or worse.
void check(const Config& config, const Options& options) {
    const bool filtered = options.deflate != 0 || !options.filters.empty();
    const char* culprit = options.deflate != 0               ? "deflate"
                          : config.has("filter") && filtered ? "filter"
                                                             : "zfp";
    if (filtered && !options.collective)
        throw config.error(culprit, std::string(culprit) + " needs collective writes",
                           "add collective_write: HDF5 can compress in parallel only collectively");
    if (filtered && options.subfiles != 0)
        throw config.error(culprit, std::string(culprit) + " cannot be combined with subfile",
                           "with subfile the dataset is contiguous; take one of the two away");
    if (options.precreate && options.subfiles != 0)
        throw config.error("precreate", "precreate cannot be combined with subfile",
                           "one rank alone cannot create the subfiles; take one of the two away");
}

}  // namespace

void register_keys(core::KeyTable& table) {
    Key collective = key("collective_write", Shape::flag, "write with collective calls");
    collective.group = "Format";
    table.add(collective);
    table.add(key("precreate", Shape::flag,
                  "rank 0 alone creates the file and the dataset, then all ranks open it"));
    table.add(key("set_collective_metadata", Shape::flag, "ask for collective metadata reads"));
    table.add(key("never_fill", Shape::flag, "never write fill values (H5D_FILL_TIME_NEVER)"));
    table.add(key("early_allocation", Shape::flag,
                  "allocate all storage at creation; this is the default"));
    Key alloc = key("alloc_time", Shape::choice, "when storage is allocated");
    alloc.choices = {"early", "late", "incremental", "default"};
    alloc.default_text = "early";
    table.add(alloc);
    register_layout_keys(table);
    Key alignment =
        key("alignment", Shape::words,
            "file offsets of objects (hdf5, netcdf4: of at least THRESHOLD bytes) are multiples "
            "of this");
    alignment.group = "Format";
    alignment.unit = "bytes";
    alignment.choices = {"BYTES", "[THRESHOLD]"};
    alignment.most_words = 2;
    table.add(alignment);
    Key hint = key("hint", Shape::pairs, "an MPI_Info key for MPI-IO");
    hint.group = "Format";
    table.add(hint);
}

Options options_from(const Config& config) {
    Options options;
    options.collective = config.flag("collective_write");
    options.collective_metadata = config.flag("set_collective_metadata");
    options.precreate = config.flag("precreate");
    options.fill_time = config.flag("never_fill") ? FillTime::never : FillTime::if_set;
    options.alloc_time = alloc_time_of(config);
    if (config.has("deflate")) options.deflate = static_cast<int>(config.number("deflate"));
    options.filters = all_filters(config);
    if (config.has("subfile")) options.subfiles = config.number("subfile");
    const Alignment alignment = alignment_of(config);
    options.alignment_bytes = alignment.bytes;
    options.alignment_threshold_bytes = alignment.threshold_bytes;
    if (config.has("metadata_block_size"))
        options.metadata_block_bytes = config.number("metadata_block_size");
    set_libver(config, options);
    options.hints = hints_of(config);
    check(config, options);
    return options;
}

}  // namespace tailrace::formats::hdf5
