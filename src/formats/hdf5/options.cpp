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
constexpr unsigned zstd_filter_id = 32015;

Key key(const char* name, Shape shape, const char* help) {
    return key_of("hdf5", "HDF5", name, shape, help);
}

void register_filter_keys(core::KeyTable& table) {
    table.add(key("shuffle", Shape::flag,
                  "put bytes of equal weight side by side before chunks are compressed"));
    Key deflate = key("deflate", Shape::number,
                      "compress chunks with zlib at this level; needs collective_write or encode "
                      "ranks; 0: off");
    deflate.max = 9;
    table.add(deflate);
    Key zstd = key("zstd", Shape::number,
                   "compress chunks with the zstd plugin (filter 32015) at this level; 0: off");
    zstd.max = 22;
    table.add(zstd);
    Key zfp = key("zfp", Shape::number, "1: compress with the zfp plugin (filter 32013); 0: off");
    zfp.max = 1;
    table.add(zfp);
    Key filter = key("filter", Shape::words,
                     "apply a registered filter by its number, with its parameters; needs "
                     "collective_write or encode ranks");
    filter.choices = {"ID", "[PARAMETER...]"};
    filter.repeatable = true;
    table.add(filter);
    table.add(key("fletcher32", Shape::flag, "add a checksum to every chunk"));
    Key encode = key("encode", Shape::choice,
                     "who encodes chunks: HDF5 inside collective writes, or each rank by itself, "
                     "every chunk on one rank that writes it whole");
    encode.choices = {"library", "ranks"};
    encode.default_text = "library";
    table.add(encode);
}

void register_layout_keys(core::KeyTable& table) {
    table.add(key("subfile", Shape::number,
                  "use the subfiling driver with this many I/O concentrators, contiguous; 0: off"));
    table.add(key("reassemble", Shape::flag,
                  "make one plain file of the subfiles in the end; they are removed then"));
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
    Key page = key("page_allocation", Shape::number,
                   "allocate file space in pages of this size, metadata and data apart; 0: off");
    page.unit = "bytes";
    page.max = 1U << 30U;
    table.add(page);
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
    if (config.has("zstd") && config.number("zstd") != 0)
        filters.push_back({zstd_filter_id, "zstd", {static_cast<unsigned>(config.number("zstd"))}});
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

/// The key that asked for filters, for messages.
std::string culprit_of(const Config& config, const Options& options) {
    if (options.deflate != 0) return "deflate";
    for (const Filter& filter : options.filters)
        return filter.name == "zstd" || filter.name == "zfp" ? filter.name : "filter";
    return config.flag("shuffle") ? "shuffle" : "fletcher32";
}

void check_encoding(const Config& config, const Options& options) {
    if (!options.encode_on_ranks) return;
    if (options.subfiles != 0)
        throw config.error("encode", "encode ranks cannot be combined with subfile",
                           "with subfile the dataset is contiguous; take one of the two away");
    for (const char* key : {"hint", "hints"})
        if (config.table().find(key) != nullptr && config.given(key))
            throw config.error(key, std::string(key) + " has no effect with encode ranks",
                               "chunks are then written without MPI-IO; take one of the two away");
}

void check_space(const Config& config, const Options& options) {
    constexpr std::uint64_t least_page = 512;  // HDF5's own bound
    if (options.page_bytes != 0 && options.page_bytes < least_page)
        throw config.error(
            "page_allocation",
            "pages of " + std::to_string(options.page_bytes) + " bytes are too small",
            "HDF5 takes pages of at least 512 bytes; 4096 is its own choice");
    if (options.page_bytes != 0 &&
        (options.libver_high == "earliest" || options.libver_high == "v18"))
        throw config.error("page_allocation",
                           "files of libver " + options.libver_high + " have no pages",
                           "HDF5 has them from v110 on; take one of the two away");
    if (options.page_bytes != 0 && options.subfiles != 0)
        throw config.error("page_allocation", "page_allocation cannot be combined with subfile",
                           "take one of the two away");
    if (options.reassemble && options.subfiles == 0)
        throw config.error("reassemble", "reassemble without subfile",
                           "add the line `subfile N`, or take reassemble away",
                           core::Code::missing_key);
}

/// Combinations that HDF5 itself would refuse, or worse.
void check(const Config& config, const Options& options) {
    if (options.filtered() && !options.collective && !options.encode_on_ranks) {
        const std::string culprit = culprit_of(config, options);
        throw config.error(culprit, culprit + " needs collective writes",
                           "add collective_write: HDF5 can compress in parallel only "
                           "collectively; or `encode ranks`, where each rank does it by itself");
    }
    if (options.filtered() && options.subfiles != 0) {
        const std::string culprit = culprit_of(config, options);
        throw config.error(culprit, culprit + " cannot be combined with subfile",
                           "with subfile the dataset is contiguous; take one of the two away");
    }
    check_encoding(config, options);
    check_space(config, options);
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
    table.add(key("collective_metadata_write", Shape::flag,
                  "write the library's own metadata with collective calls"));
    table.add(key("multi_dataset", Shape::flag,
                  "write pieces of several objects with one call of the library"));
    table.add(key("never_fill", Shape::flag, "never write fill values (H5D_FILL_TIME_NEVER)"));
    table.add(key("early_allocation", Shape::flag,
                  "allocate all storage at creation; this is the default"));
    Key alloc = key("alloc_time", Shape::choice, "when storage is allocated");
    alloc.choices = {"early", "late", "incremental", "default"};
    alloc.default_text = "early";
    table.add(alloc);
    register_filter_keys(table);
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

Facts Options::facts() const {
    return {.format = "hdf5",
            .collective = collective,
            .collective_metadata = collective_metadata,
            .filtered = filtered(),
            .needs_chunks = filtered() || encode_on_ranks,
            .contiguous = subfiles > 0 ? "with subfile: the layout is contiguous" : "",
            .precreate = precreate,
            .early_allocation = alloc_time == AllocTime::early,
            .never_fill_time = fill_time == FillTime::never,
            .several_files = subfiles > 0,
            .keeps_name = subfiles > 0,
            .parts_of_compounds = !encode_on_ranks,
            .calls_hdf5 = true};
}

Options options_from(const Config& config) {
    Options options;
    options.collective = config.flag("collective_write");
    options.collective_metadata = config.flag("set_collective_metadata");
    options.collective_metadata_writes = config.flag("collective_metadata_write");
    options.multi_dataset = config.flag("multi_dataset");
    options.precreate = config.flag("precreate");
    options.reassemble = config.flag("reassemble");
    options.fill_time = config.flag("never_fill") ? FillTime::never : FillTime::if_set;
    options.alloc_time = alloc_time_of(config);
    if (config.has("deflate")) options.deflate = static_cast<int>(config.number("deflate"));
    options.shuffle = config.flag("shuffle");
    options.filters = all_filters(config);
    options.fletcher32 = config.flag("fletcher32");
    options.encode_on_ranks = config.text("encode") == "ranks";
    if (config.has("subfile")) options.subfiles = config.number("subfile");
    const Alignment alignment = alignment_of(config);
    options.alignment_bytes = alignment.bytes;
    options.alignment_threshold_bytes = alignment.threshold_bytes;
    if (config.has("metadata_block_size"))
        options.metadata_block_bytes = config.number("metadata_block_size");
    if (config.has("page_allocation")) options.page_bytes = config.number("page_allocation");
    set_libver(config, options);
    options.hints = hints_of(config);
    check(config, options);
    return options;
}

std::vector<std::string> settle(Config& config, const Options& options) {
    if (!config.given("early_allocation"))
        config.derive("early_allocation", options.alloc_time == AllocTime::early ? "1" : "0",
                      config.place("alloc_time"));
    else if (options.alloc_time == AllocTime::library_default && !config.given("alloc_time"))
        config.derive("alloc_time", "default", config.place("early_allocation"));
    std::vector<std::string> without_effect;
    if (options.encode_on_ranks)
        for (const char* key : {"collective_write", "set_collective_metadata", "precreate"})
            if (config.flag(key))
                without_effect.push_back(std::string(key) + ", with encode ranks,");
    return without_effect;
}

}  // namespace tailrace::formats::hdf5
