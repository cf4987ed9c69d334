// SPDX-License-Identifier: Apache-2.0
#include "formats/keys.hpp"

#include <algorithm>

#include "formats/hint_list.hpp"
#include "formats/registry/registry.hpp"
#ifdef TAILRACE_HAVE_MPI
#include "comm/mpi_io.hpp"
#endif

namespace tailrace::formats {

namespace {

bool used(const core::Key& key, const std::string& format) {
    return key.used_by.empty() ||
           std::find(key.used_by.begin(), key.used_by.end(), format) != key.used_by.end();
}

/// A key that says "off", or what is so anyway, asks for nothing, so that it fits every format: the
/// print of a dry run is itself an input.
bool asks_for_something(const core::Setting& setting, const core::Key& key) {
    if (setting.text == key.default_text) return false;
    if (const auto* flag = std::get_if<bool>(&setting.value)) return *flag;
    if (const auto* number = std::get_if<std::uint64_t>(&setting.value)) return *number != 0;
    return true;
}

std::vector<core::Setting> foreign_settings(const core::Config& config) {
    std::vector<core::Setting> foreign;
    const std::string& format = config.text("format");
    for (core::Setting& setting : config.effective()) {
        const core::Key& key = *config.table().find(setting.key);
        if (setting.source != core::Origin::default_value && asks_for_something(setting, key) &&
            !used(key, format))
            foreign.push_back(std::move(setting));
    }
    return foreign;
}

}  // namespace

void register_keys(core::KeyTable& table) {
    core::Key format;
    format.name = "format";
    format.shape = core::Shape::choice;
    format.default_text = "hdf5";
    format.help = "what the data is written as";
    format.group = "Format";
    for (const Format& one : all_formats())
        format.choices.insert(format.choices.end(), one.names.begin(), one.names.end());
    table.add(format);
    core::Key hints;
    hints.name = "hints";
    hints.shape = core::Shape::text;
    hints.group = "Format";
    hints.help =
        "hints for MPI-IO as Cray MPICH takes them: \"PATTERN:KEY=VALUE:KEY=VALUE\"; without "
        "it those of the variable MPICH_MPIIO_HINTS";
    table.add(hints);
    for (const Format& one : all_formats()) one.register_keys(table);
}

core::Key key_of(const char* format, const char* group, const char* name, core::Shape shape,
                 const char* help) {
    core::Key key;
    key.name = name;
    key.shape = shape;
    key.help = help;
    key.group = group;
    key.used_by = {format};
    return key;
}

std::uint64_t whole_number(const core::Config& config, const char* key, const std::string& word) {
    std::string why;
    const auto number = core::parse_number(word, why);
    if (!number)
        throw config.error(key, core::in_quotes(word) + " of " + key + " " + why,
                           "write `" + core::KeyTable::usage(*config.table().find(key)) + "`");
    return *number;
}

Alignment alignment_of(const core::Config& config) {
    Alignment alignment;
    if (!config.has("alignment")) return alignment;
    const core::Words& words = config.words("alignment");
    alignment.bytes = whole_number(config, "alignment", words[0]);
    if (words.size() == 2) alignment.threshold_bytes = whole_number(config, "alignment", words[1]);
    return alignment;
}

std::vector<hdf5::Filter> filters_of(const core::Config& config) {
    std::vector<hdf5::Filter> filters;
    if (!config.has("filter")) return filters;
    for (const core::Words& words : config.lists("filter")) {
        hdf5::Filter filter;
        filter.name = words.front();
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint64_t number = whole_number(config, "filter", words[i]);
            const std::uint64_t largest = i == 0 ? 65535 : 4294967295;
            if (number > largest || (i == 0 && number == 0))
                throw config.error("filter",
                                   core::in_quotes(words[i]) + " is not a filter " +
                                       (i == 0 ? "number" : "parameter"),
                                   "filter numbers are 1 to 65535, parameters fit 32 bits");
            if (i == 0)
                filter.id = static_cast<unsigned>(number);
            else
                filter.parameters.push_back(static_cast<unsigned>(number));
        }
        filters.push_back(std::move(filter));
    }
    return filters;
}

std::uint64_t raw_alignment(const core::Config& config) {
    const core::Words& words = config.words("alignment");
    std::string why;
    const auto bytes = core::parse_number(words.front(), why);
    if (words.size() > 1) why = "has a threshold behind it, which the raw formats do not know";
    if (bytes && *bytes == 0) why = "is zero";
    if (!why.empty())
        throw config.error("alignment", core::in_quotes(words.front()) + " of alignment " + why,
                           "write `alignment BYTES`, BYTES at least 1");
    return *bytes;
}

Hints hints_of(const core::Config& config) {
    Hints hints = config.pairs("hint");
    if (config.has("hints")) {
        try {
            hints.merge(hints_from_list(config.text("hints"), config.text("filename")));
        } catch (const core::Error& error) {
            throw config.error("hints", error.message(), error.remedy());
        }
    }
#ifdef TAILRACE_HAVE_MPI
    for (const auto& [key, value] : hints)
        if (const std::string why = comm::why_no_hint(key, value); !why.empty())
            throw config.error("hint", "hint " + key + " cannot be set: " + why,
                               "this MPI takes " + comm::hint_limits());
#endif
    return hints;
}

Options options_from(const core::Config& config) {
    const std::string& format = config.text("format");
    for (const core::Setting& setting : foreign_settings(config)) {
        const core::Key& key = *config.table().find(setting.key);
        if (key.shape == core::Shape::flag) continue;
        std::string formats;
        for (const std::string& one : key.used_by) formats += (formats.empty() ? "" : " or ") + one;
        throw config.error(
            setting.key, setting.key + " " + setting.text + " has no meaning for format " + format,
            "take it away, or choose format " + formats);
    }
    return format_named(format).parse(config);
}

std::vector<std::string> settle(core::Config& config, const Options& options) {
    const Format& format = format_named(options.facts().format);
    std::vector<std::string> own;
    if (format.settle) own = format.settle(config, options);
    std::vector<std::string> names;
    for (const core::Setting& setting : foreign_settings(config)) names.push_back(setting.key);
    names.insert(names.end(), own.begin(), own.end());
    return names;
}

bool in_use(const core::Config& config, const std::string& key) {
    const core::Key* known = config.table().find(key);
    return known != nullptr && used(*known, config.text("format"));
}

}  // namespace tailrace::formats
