// SPDX-License-Identifier: Apache-2.0
#include "server/metadata/collection.hpp"

#include "server/archive.hpp"

namespace tailrace::server {

using core::Shape;

namespace {

/// The place of a choice, which has the same order as its enum.
template <class Enum>
Enum chosen(const core::Config& config, std::string_view key) {
    const std::vector<std::string>& choices = config.table().find(key)->choices;
    std::uint64_t i = 0;
    while (choices[i] != config.text(key)) ++i;
    return static_cast<Enum>(i);
}

core::Key key(const std::string& name, Shape shape, const std::string& standard,
              const std::string& help, const std::vector<std::string>& choices = {}) {
    core::Key one{name, shape, standard, "", help, "collection"};
    one.choices = choices;
    return one;
}

std::string trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin));
}

core::Config parsed(const core::KeyTable& table, std::string_view text) {
    core::Config config(table);
    each_setting(text, [&](const std::string& one) { config.add_argument(one); });
    config.finish();
    return config;
}

core::Extents extents_of(const core::Config& config) {
    core::Extents all;
    std::string_view text = config.text("chunks");
    for (bool more = true; more;) {
        const auto end = text.find('x');
        std::string why;
        const auto extent = core::parse_number(text.substr(0, end), why);
        if (!extent || *extent == 0)
            throw config.error("chunks", "an extent of a chunk is no positive whole number",
                               "write one per dimension, as chunks=1x90x180");
        all.push_back(*extent);
        more = end != std::string_view::npos;
        if (more) text.remove_prefix(end + 1);
    }
    return all;
}

}  // namespace

void each_setting(std::string_view text, const std::function<void(const std::string&)>& add) {
    while (!text.empty()) {
        const auto end = text.find(';');
        const std::string one = trimmed(text.substr(0, end));
        if (!one.empty()) add(one);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
}

Storage storage_of(std::string_view text) {
    core::KeyTable table;
    table.add(key("chunks", Shape::text, "", "extents of a chunk, as 1x90x180"));
    core::Key deflate = key("deflate", Shape::number, "0", "level; 0: none");
    deflate.max = 9;
    table.add(deflate);
    core::Key zstd = key("zstd", Shape::number, "", "level");
    zstd.min = 1;
    zstd.max = 22;
    table.add(zstd);
    table.add(key("shuffle", Shape::flag, "", "bytes of equal weight side by side"));
    table.add(key("quantize", Shape::choice, "none", "how bits that say nothing are lost",
                  {"none", "bit_groom", "granular_bit_round", "bit_round"}));
    table.add(key("digits", Shape::number, "0", "decimal digits that stay, or bits"));
    const core::Config config = parsed(table, text);
    Storage storage;
    if (config.has("chunks")) storage.chunks = extents_of(config);
    storage.deflate = config.number("deflate");
    if (config.has("zstd")) storage.zstd = config.number("zstd");
    storage.shuffle = config.flag("shuffle");
    storage.quantize = chosen<Quantize>(config, "quantize");
    storage.digits = config.number("digits");
    return storage;
}

std::vector<std::byte> FileSpec::to_bytes() const { return archived(*this); }

FileSpec FileSpec::from_bytes(std::span<const std::byte> bytes) {
    return unarchived<FileSpec>(bytes);
}

}  // namespace tailrace::server
