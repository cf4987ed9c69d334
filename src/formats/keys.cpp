// SPDX-License-Identifier: Apache-2.0
#include "formats/keys.hpp"

#include <algorithm>

#include "formats/registry/registry.hpp"

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
