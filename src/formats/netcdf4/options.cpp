// SPDX-License-Identifier: Apache-2.0
// The keys of format netcdf4; those that it shares with hdf5 are described there. No foreign
// header: they are known, and checked, in every build.
#include <array>
#include <bit>

#include "formats/keys.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

using core::Config;
using core::Key;
using core::Shape;

Key key(const char* name, Shape shape, const char* help) {
    return key_of("netcdf4", "netCDF", name, shape, help);
}

void share_keys(core::KeyTable& table) {
    for (const char* flag : {"collective_write", "never_fill"})
        table.add(key(flag, Shape::flag, ""));
    table.add(key("set_collective_metadata", Shape::flag, ""));  // netCDF always does
    table.add(key("hint", Shape::pairs, ""));
    table.add(key("alignment", Shape::words, ""));
    table.add(key("filter", Shape::words, ""));
    table.add(key("deflate", Shape::number, ""));
    table.add(key("metadata_block_size", Shape::number, ""));
}

struct Algorithm {
    const char* name;
    Quantize how;
    std::uint64_t most_digits;  ///< for float32, which has fewer
};
constexpr std::array<Algorithm, 3> algorithms{{{"bitgroom", Quantize::bit_groom, 6},
                                               {"granularbr", Quantize::granular_bit_round, 6},
                                               {"bitround", Quantize::bit_round, 23}}};
constexpr const char* algorithm_names = "bitgroom, granularbr or bitround";

void set_quantize(const Config& config, Options& options) {
    if (!config.has("quantize")) return;
    const core::Words& words = config.words("quantize");
    for (const Algorithm& one : algorithms) {
        if (words[0] != one.name) continue;
        options.quantize = one.how;
        const std::uint64_t digits = whole_number(config, "quantize", words[1]);
        const std::uint64_t most = one.how == Quantize::bit_round ? 52 : 15;
        if (digits == 0 || digits > most)
            throw config.error(
                "quantize",
                words[1] + (one.how == Quantize::bit_round ? " bits of the mantissa cannot be kept"
                                                           : " decimal digits cannot be kept"),
                std::string(one.name) + " takes 1 to " + std::to_string(one.most_digits) +
                    " for float32, up to " + std::to_string(most) + " for float64");
        options.quantize_digits = static_cast<int>(digits);
        return;
    }
    const std::string guess = core::nearest(words[0], {"bitgroom", "granularbr", "bitround"});
    throw config.error("quantize",
                       "quantize knows no " + core::in_quotes(words[0]) +
                           (guess.empty() ? "" : ". Did you mean \"" + guess + "\"?"),
                       std::string("take one of ") + algorithm_names);
}

void set_szip(const Config& config, Options& options) {
    if (!config.has("szip")) return;
    const core::Words& words = config.words("szip");
    Szip szip;
    if (words[0] != "nn" && words[0] != "ec")
        throw config.error("szip", core::in_quotes(words[0]) + " of szip is neither nn nor ec",
                           "write `szip nn [PIXELS]` or `szip ec [PIXELS]`");
    szip.nearest_neighbour = words[0] == "nn";
    const std::uint64_t pixels =
        words.size() == 2 ? whole_number(config, "szip", words[1]) : szip.pixels_per_block;
    if (pixels < 2 || pixels > 32 || pixels % 2 != 0)
        throw config.error("szip", words[1] + " pixels per block are not possible",
                           "give an even number from 2 to 32");
    szip.pixels_per_block = static_cast<unsigned>(pixels);
    options.szip = szip;
}

/// A kernel that compares its file bit by bit would find every number changed.
void refuse_comparison(const Config& config, const Options& options) {
    if (options.quantize == Quantize::none) return;
    for (const std::string key : {"verify", "read", "read_option"}) {
        if (config.table().find(key) == nullptr || !config.given(key)) continue;
        if (key == "verify" && !config.flag(key)) continue;
        throw config.error(
            "quantize",
            key + " compares every number bit by bit, and quantize " + config.words("quantize")[0] +
                " changes them",
            "take " + key + " away; `tailrace verify FILE` knows how far numbers may be off");
    }
}

/// What is stored in parallel through a filter must be written by all ranks together; and HDF5
/// leaves that where it converts numbers.
void check(const Config& config, const Options& options) {
    if (!options.filtered()) return;
    const Endian ours = std::endian::native == std::endian::little ? Endian::little : Endian::big;
    if (options.endian != Endian::native && options.endian != ours)
        throw config.error("endian",
                           "endian " + config.text("endian") + " cannot be had with a filter",
                           "HDF5 does not turn numbers round in a collective write of compressed "
                           "chunks; take endian or the filter away");
    if (options.collective) return;
    for (const char* culprit : {"deflate", "zstd", "szip", "filter", "shuffle"})
        if (config.given(culprit))
            throw config.error(
                culprit, std::string(culprit) + " needs collective writes",
                "add collective_write: HDF5 can compress in parallel only collectively");
}

}  // namespace

void register_keys(core::KeyTable& table) {
    share_keys(table);
    table.add(key("shuffle", Shape::flag, "put the bytes of equal rank of a chunk side by side"));
    Key zstd = key("zstd", Shape::number,
                   "compress chunks with Zstandard at this level; needs collective_write");
    zstd.max = 22;
    table.add(zstd);
    Key szip = key("szip", Shape::words,
                   "compress chunks with szip, nn (nearest neighbour) or ec (entropy coding)");
    szip.choices = {"nn|ec", "[PIXELS]"};
    szip.most_words = 2;
    table.add(szip);
    Key quantize = key("quantize", Shape::words,
                       "set bits of floating-point numbers to what compresses well, so that so "
                       "many decimal digits stay (bitround: bits of the mantissa)");
    quantize.choices = {"bitgroom|granularbr|bitround", "DIGITS"};
    quantize.least_words = 2;
    quantize.most_words = 2;
    table.add(quantize);
    Key model = key("cmode", Shape::choice, "data model: netCDF-4's, or the classic one in HDF5");
    model.choices = {"netcdf4", "classic-model"};
    model.default_text = "netcdf4";
    table.add(model);
    table.add(key("unlimited", Shape::flag,
                  "the first dimension is unlimited, the file grows with the steps"));
    table.add(key("default_chunks", Shape::flag, "without chunk: the chunks that netCDF chooses"));
    Key endian = key("endian", Shape::choice, "byte order of numbers in the file");
    endian.choices = {"native", "little", "big"};
    endian.default_text = "native";
    table.add(endian);
}

Facts Options::facts() const {
    return {.format = "netcdf4",
            .collective = collective,
            .filtered = filtered(),
            .needs_chunks = filtered(),
            .chooses_chunks = library_chunks,
            .fills_with_own = true};
}

Options options_from(const Config& config) {
    Options options;
    options.collective = config.flag("collective_write");
    options.never_fill = config.flag("never_fill");
    options.library_chunks = config.flag("default_chunks");
    options.unlimited = config.flag("unlimited");
    if (config.text("cmode") == "classic-model") options.model = DataModel::classic;
    if (config.text("endian") == "little") options.endian = Endian::little;
    if (config.text("endian") == "big") options.endian = Endian::big;
    options.shuffle = config.flag("shuffle");
    if (config.has("deflate")) options.deflate = static_cast<int>(config.number("deflate"));
    if (config.has("zstd") && config.number("zstd") != 0)
        options.zstd = static_cast<int>(config.number("zstd"));
    set_szip(config, options);
    options.filters = filters_of(config);
    set_quantize(config, options);
    const Alignment alignment = alignment_of(config);
    options.alignment_bytes = alignment.bytes;
    options.alignment_threshold_bytes = alignment.threshold_bytes;
    if (config.has("metadata_block_size"))
        options.metadata_block_bytes = config.number("metadata_block_size");
    options.hints = hints_of(config);
    check(config, options);
    refuse_comparison(config, options);
    return options;
}

}  // namespace tailrace::formats::netcdf4
