// SPDX-License-Identifier: Apache-2.0
#include "server/layout/server_file.hpp"

#include <toml++/toml.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/layout/options.hpp"

namespace tailrace::server {

using core::Code;
using core::Config;
using core::Error;
using core::Origin;

namespace {

constexpr const char* tables = "collections";

std::string place_of(const ServerFile& file, const toml::source_region& source) {
    return file.name + ":" + std::to_string(source.begin.line);
}

/// The text of a value as a line of an input file would give it; nothing for other kinds.
std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
    if (const auto* real = node.as_floating_point()) return std::to_string(real->get());
    if (const auto* list = node.as_array()) {
        std::string all;
        for (const toml::node& one : *list) {
            if (!one.is_integer()) return std::nullopt;
            all += (all.empty() ? "" : " ") + std::to_string(one.as_integer()->get());
        }
        return all;
    }
    return std::nullopt;
}

void take_value(const ServerFile& file, std::string_view key, const toml::node& node, Config& to) {
    const std::string place = place_of(file, node.source());
    const std::string name(key);
    const Option* option = find_option(name);
    if (option != nullptr && !option->in_file)
        throw Error(Code::bad_input, name + " cannot stand in a file", place,
                    "write --" + option->word + " " + option->takes);
    if (option != nullptr && to.table().find(name) == nullptr)
        throw Error(Code::unknown_key,
                    option->of_collection ? name + " belongs to one collection"
                                          : name + " belongs to the whole server",
                    place,
                    option->of_collection
                        ? "move it into a table [collections.NAME]"
                        : "move it to the top of the file, before the first table");
    const auto text = text_of(node);
    if (to.table().find(name) != nullptr && !text)
        throw Error(Code::bad_input, name + " is one value, not a table, a date or a list", place,
                    option->form(Origin::file));
    take(to, name, text.value_or(""), Origin::file, place);
}

Config collection_of(const ServerFile& file, std::string_view name, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr || name.empty())
        throw Error(
            Code::bad_input,
            table ? "a collection needs a name" : std::string(name) + " of collections is no table",
            place_of(file, node.source()),
            "write [collections.NAME], and its keys on the lines below");
    Config config(collection_keys());
    for (const auto& [key, value] : *table) {
        if (value.is_table())
            throw Error(Code::unknown_key,
                        "collection " + core::in_quotes(name) + " has a table " +
                            core::in_quotes(key.str()),
                        place_of(file, value.source()),
                        "a collection has no tables; a name with a stop in it stands in quotation "
                        "marks: [collections.\"" +
                            std::string(name) + "." + std::string(key.str()) + "\"]");
        take_value(file, key.str(), value, config);
    }
    return config;
}

toml::table parsed(const ServerFile& file) {
    try {
        return toml::parse(file.text, file.name);
    } catch (const toml::parse_error& error) {
        throw Error(Code::bad_input, std::string(error.description()),
                    place_of(file, error.source()),
                    "write `key = value`, texts in quotation marks, as TOML 1.0 has it");
    }
}

}  // namespace

std::map<std::string, Config> read_toml(const ServerFile& file, Config& options) {
    std::map<std::string, Config> collections;
    for (const auto& [key, value] : parsed(file)) {
        if (key.str() != tables) {
            take_value(file, key.str(), value, options);
            continue;
        }
        const toml::table* all = value.as_table();
        if (all == nullptr)
            throw Error(Code::bad_input, "collections is no table", place_of(file, value.source()),
                        "write [collections.NAME], and its keys on the lines below");
        for (const auto& [name, table] : *all)
            collections.emplace(name.str(), collection_of(file, name.str(), table));
    }
    return collections;
}

std::optional<ServerFile> read_server_file(const Config& options) {
    ServerFile file{"server.toml"};
    const bool asked = options.has("config");
    if (asked) file.name = options.text("config");
    std::error_code failure;
    if (!asked && !std::filesystem::exists(file.name, failure)) return std::nullopt;
    std::ifstream stream(file.name, std::ios::binary);
    const bool opened = stream.is_open() && !std::filesystem::is_directory(file.name, failure);
    const int why = errno;
    if (opened) file.text.assign(std::istreambuf_iterator<char>(stream), {});
    if (opened && !stream.bad()) return file;
    throw Error(opened ? Code::io : Code::no_such_file,
                "cannot read " + file.name + ": " +
                    (stream.is_open() ? "it is no file" : core::describe_errno(why)),
                asked ? options.place("config") : file.name,
                "give the name of a file that every rank 0 may read, or leave it out");
}

}  // namespace tailrace::server
