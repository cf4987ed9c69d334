// SPDX-License-Identifier: Apache-2.0
#include "server/layout/layout.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "server/archive.hpp"
#include "server/layout/options.hpp"
#include "server/layout/server_file.hpp"

namespace tailrace::server {

using core::Code;
using core::Config;
using core::Error;
using core::Origin;

namespace {

/// Sets `to` to the place of a choice among names that stand in the order of their enum.
template <class Enum>
void choose(Enum& to, const Config& config, const std::string& key,
            const std::vector<std::string>& names) {
    to = static_cast<Enum>(std::find(names.begin(), names.end(), config.text(key)) - names.begin());
}

void check_files(const CollectionOptions& options, const Config& config) {
    if (options.deflate > 0 && options.zstd > 0)
        throw wrong(config, "zstd",
                    "zstd " + std::to_string(options.zstd) + " and deflate " +
                        std::to_string(options.deflate) + " exclude each other");
    for (const char* key : {"deflate", "zstd", "shuffle"}) {
        if (options.format != FileFormat::cdf5) break;
        if (key == std::string("shuffle") ? options.shuffle : config.number(key) > 0)
            throw wrong(config, key, std::string(key) + " is asked for, and cdf5 has none");
    }
    if (options.file.empty()) return;
    bool dated = false;
    try {
        dated = has_date(options.file);
    } catch (const Error& error) {
        throw wrong(config, "file", core::in_quotes(options.file) + ": " + error.message());
    }
    if (options.records_per_file > 0 && !dated)
        throw wrong(config, "file",
                    "all files of the collection would be called " + core::in_quotes(options.file) +
                        ", and a new one begins after " + std::to_string(options.records_per_file) +
                        " records: put a date into it");
}

CollectionOptions options_of(const std::string& name, Config& config) {
    check_built(config);
    CollectionOptions options;
    options.name = name;
    choose(options.format, config, "format", {"netcdf4", "cdf5", "hdf5"});
    if (config.has("file")) options.file = config.text("file");
    options.calendar = calendar_of(config.text("calendar"));
    options.records_per_file = config.number("records_per_file");
    choose(options.existing, config, "existing", {"refuse", "replace", "append"});
    choose(options.durability, config, "durability", {"none", "flushed", "durable"});
    choose(options.when_full, config, "when_full", {"block", "error"});
    options.queue_bytes = bytes_of(config, "queue_bytes");
    options.depth = config.number("depth");
    options.deflate = config.number("deflate");
    options.zstd = config.number("zstd");
    options.shuffle = config.flag("shuffle");
    check_files(options, config);
    const core::KeyTable keys = collection_keys();
    for (const core::Setting& one : config.effective())
        if (one.source != Origin::default_value && keys.find(one.key) != nullptr) {
            options.said.push_back(one.key);
            options.said.push_back(one.text);
        }
    return options;
}

/// A collection has what its table says, unless command line or environment say it for all; what
/// it does not say, it has from the top of the file.
CollectionOptions with_globals(const std::string& name, Config own, const Config& options) {
    for (const core::Setting& one : options.effective()) {
        if (own.table().find(one.key) == nullptr || one.source == Origin::default_value) continue;
        if (one.source != Origin::file)
            own.add_value(one.key, one.text, one.source, one.place);
        else if (!own.given(one.key))
            own.add_value(one.key, one.text, Origin::file, one.place);
    }
    own.finish();
    return options_of(name, own);
}

/// Of two ways to say the same, the one that comes from the higher place.
void choose_one(Config& options, const std::string& one, const std::string& other) {
    if (!options.given(one) || !options.given(other)) return;
    if (options.source(one) == options.source(other))
        throw Error(Code::bad_input, one + " and " + other + " exclude each other",
                    options.place(one) + ", " + options.place(other), "give one of them");
    options.forget(options.source(one) < options.source(other) ? one : other);
}

std::optional<Asked> asked(const Config& options, const std::string& key) {
    if (!options.given(key)) return std::nullopt;
    const core::Words& words = options.words(key);
    if (words.size() > 1)
        throw Error(Code::unsupported,
                    key + " asks for " + std::to_string(words.size()) +
                        " independent servers; one of several ranks is built, several are not yet",
                    options.place(key),
                    "add them up: " + find_option(key)->form(options.source(key)));
    std::string why;
    const auto number = core::parse_number(words.front(), why);
    if (!number)
        throw wrong(options, key, core::in_quotes(words.front()) + " of " + key + " " + why);
    return Asked{*number, options.place(key)};
}

Wanted wanted(Config& options) {
    choose_one(options, "npes_output_server", "nodes_output_server");
    choose_one(options, "isolate_nodes", "compress_nodes");
    Wanted all;
    if (options.given("npes_model") && options.number("npes_model") > 0)
        all.model = Asked{options.number("npes_model"), options.place("npes_model")};
    all.servers = asked(options, "npes_output_server");
    all.server_nodes = asked(options, "nodes_output_server");
    const std::string key = options.given("compress_nodes") ? "compress_nodes" : "isolate_nodes";
    if (options.given(key)) {
        all.isolate = options.flag(key) == (key == "isolate_nodes");
        if (all.isolate) all.isolate_place = options.place(key);
    }
    return all;
}

void take_bounds(Layout& layout, const Config& options) {
    layout.slab_bytes = bytes_of(options, "slab_bytes");
    layout.credit_bytes = bytes_of(options, "credit_bytes");
    layout.shared_bytes = bytes_of(options, "shared_bytes");
    if (layout.slab_bytes == 0) throw wrong(options, "slab_bytes", "slab_bytes must be at least 1");
    if (layout.credit_bytes / 2 < layout.slab_bytes)
        throw wrong(options, options.given("credit_bytes") ? "credit_bytes" : "slab_bytes",
                    "credit_bytes of " + core::bytes_text(layout.credit_bytes) +
                        " are less than two slabs of " + core::bytes_text(layout.slab_bytes));
    layout.stuck_timeout_s = options.real("stuck_timeout_s");
}

/// "0-3, 6".
std::string list_text(const std::vector<std::uint64_t>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        text += (i ? ", " : "") + std::to_string(ranks[i]);
        if (last > i) text += "-" + std::to_string(ranks[last]);
        i = last + 1;
    }
    return text;
}

std::string group_text(const std::vector<std::uint64_t>& ranks) {
    return std::to_string(ranks.size()) + (ranks.size() == 1 ? " rank (" : " ranks (") +
           list_text(ranks) + ")";
}

}  // namespace

CollectionOptions Layout::collection(const std::string& name, std::string_view by_program) const {
    CollectionOptions options = defaults;
    options.name = name;
    for (const CollectionOptions& one : collections)
        if (one.name == name) options = one;
    if (by_program.empty()) return options;
    const std::string place = "the program's options of collection " + name;
    Config config(collection_keys());
    each_setting(by_program, [&](const std::string& one) {
        const auto equals = one.find('=');
        config.add_value(one.substr(0, equals),
                         equals == std::string::npos ? "" : one.substr(equals + 1), Origin::file,
                         place);
    });
    for (std::size_t i = 0; i + 1 < options.said.size(); i += 2)
        config.add_value(options.said[i], options.said[i + 1], Origin::command_line, place);
    config.finish();
    return options_of(name, config);
}

std::uint64_t Layout::hash() const { return short_hash(to_bytes()); }
std::vector<std::byte> Layout::to_bytes() const { return archived(*this); }
Layout Layout::from_bytes(std::span<const std::byte> bytes) { return unarchived<Layout>(bytes); }

std::string Layout::text() const {
    std::string text = "model: " + group_text(ranks.model);
    text += kind == LayoutKind::embedded ? ", which write themselves"
                                         : "; servers: " + group_text(ranks.servers);
    if (!ranks.left_over.empty())
        text += "\nleft over, neither computing nor serving: " + group_text(ranks.left_over) +
                (ranks.isolated ? "; --isolate_nodes false lets model and servers share a node"
                                : "; start fewer ranks, or give more of them a task");
    return text;
}

Layout layout_of(Config options, const std::optional<ServerFile>& file,
                 std::span<const int> nodes) {
    std::map<std::string, Config> collections;
    if (file) collections = read_toml(*file, options);
    check_built(options);
    const Wanted who = wanted(options);
    options.finish();
    Layout layout;
    layout.ranks = split(who, nodes);
    layout.kind = layout.ranks.servers.empty() ? LayoutKind::embedded : LayoutKind::simple;
    take_bounds(layout, options);
    layout.fast = options.flag("fast_oclient");
    layout.profiler = options.flag("with_io_profiler");
    layout.defaults = options_of("", options);
    for (const auto& [name, own] : collections)
        layout.collections.push_back(with_globals(name, own, options));
    return layout;
}

Layout plain_layout(std::uint64_t ranks, std::uint64_t servers, const std::string& place) {
    Layout layout;
    Wanted wanted;
    wanted.isolate = false;
    if (servers > 0) wanted.servers = Asked{servers, place};
    layout.kind = servers > 0 ? LayoutKind::simple : LayoutKind::embedded;
    layout.ranks = split(wanted, std::vector<int>(ranks, 0));
    return layout;
}

}  // namespace tailrace::server
