// SPDX-License-Identifier: Apache-2.0
#include "server/layout/options.hpp"

#include <algorithm>

#include "core/config_values.hpp"
#include "core/units.hpp"

namespace tailrace::server {

using core::Code;
using core::Config;
using core::Error;
using core::Key;
using core::Origin;
using core::Shape;

namespace {

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return text;
}

Option option(std::string name, Shape shape, std::string takes, std::string default_text,
              std::string help) {
    Option one;
    one.key.name = std::move(name);
    one.key.shape = shape;
    one.key.default_text = std::move(default_text);
    one.key.help = std::move(help);
    one.takes = std::move(takes);
    one.word = "server_" + one.key.name;
    return one;
}

/// An option that users of PFIO know: its word on the command line is its name.
Option known(std::string name, Shape shape, std::string takes, std::string default_text,
             std::string help) {
    Option one =
        option(std::move(name), shape, std::move(takes), std::move(default_text), std::move(help));
    one.word = one.key.name;
    return one;
}

Option choice(const std::string& name, std::vector<std::string> built,
              std::vector<std::string> unbuilt, std::string help) {
    Option one =
        option(name, Shape::choice, core::joined(built, "|"), built.front(), std::move(help));
    one.key.choices = std::move(built);
    one.key.choices.insert(one.key.choices.end(), unbuilt.begin(), unbuilt.end());
    one.unbuilt = std::move(unbuilt);
    return one;
}

void add_who_serves(std::vector<Option>& all) {
    Option model = known("npes_model", Shape::number, "N", "0",
                         "ranks for the model; 0 or, as in PFIO, -1: all that do not serve");
    all.push_back(model);
    all.push_back(known("npes_output_server", Shape::words, "N", "",
                        "ranks that write; 0: the ranks of the model write themselves"));
    all.push_back(
        known("nodes_output_server", Shape::words, "N", "", "the same as a number of whole nodes"));
    all.push_back(known("isolate_nodes", Shape::flag, "true|false", "1",
                        "model and servers have nodes of their own; on one node they share it, "
                        "unless it is asked for"));
    all.push_back(known("compress_nodes", Shape::flag, "true|false", "",
                        "PFIO's name for isolate_nodes = false"));
    Option type = choice("oserver_type", {"single"},
                         {"multigroup", "multicomm", "multilayer", "vector", "helper"},
                         "how server ranks work together");
    type.word = type.key.name;
    all.push_back(type);
    all.push_back(known("with_io_profiler", Shape::flag, "true|false", "",
                        "times at the end: tailrace_server_profile.model.txt and .servers.txt, "
                        "with .json and .trace.json"));
    all.push_back(
        known("fast_oclient", Shape::flag, "true|false", "",
              "taken for users of PFIO: a put copies its block anyway, and returns then"));
    const std::string later = "known from PFIO, not built yet";
    for (const char* name : {"npes_input_server", "nodes_input_server", "npes_backend_pernode"})
        all.push_back(known(name, Shape::words, "0", "", later));
    all.push_back(known("one_node_output", Shape::flag, "false", "", later));
    for (std::size_t i = all.size() - 4; i < all.size(); ++i) all[i].built = false;
}

void add_bounds(std::vector<Option>& all) {
    Option config = option("config", Shape::text, "FILE", "",
                           "the file to read in place of server.toml of the working folder");
    config.in_file = false;
    all.push_back(config);
    all.push_back(option("slab_bytes", Shape::text, "BYTES", "8 MiB",
                         "largest message; what is larger is sent in several"));
    all.push_back(option("credit_bytes", Shape::text, "BYTES", "16 MiB",
                         "that a rank may send ahead, for each collection and server rank; at "
                         "least twice slab_bytes"));
    all.push_back(
        option("shared_bytes", Shape::text, "BYTES", "64 MiB",
               "shared memory of a rank of the model, at most: there it leaves what it puts for "
               "servers of its node; what does not fit travels in messages"));
    all.push_back(
        option("stuck_timeout_s", Shape::real, "SECONDS", "300",
               "without a word from a server while the model waits for it: then it counts "
               "as lost, and so do its files, which no other one takes over; 0: never"));
}

void add_of_collections(std::vector<Option>& all) {
    const std::size_t first = all.size();
    all.push_back(choice("format", {"netcdf4", "cdf5", "hdf5"}, {}, "of the files"));
    all.push_back(option("file", Shape::text, "NAME", "",
                         "template of the names of the files, such as out/daily_%Y%m%d.nc; without "
                         "it the model names them; only in [collections.NAME]"));
    all.push_back(
        choice("calendar", {"standard", "noleap", "360_day"}, {}, "of the dates in these names"));
    all.push_back(option("records_per_file", Shape::number, "N", "0",
                         "after which the next file begins; 0: when the model says so"));
    all.push_back(choice("existing", {"refuse", "replace", "append"}, {},
                         "what becomes of a file of that name"));
    all.push_back(choice("durability", {"durable", "flushed", "none"}, {"log"},
                         "of a closed file: on the device, handed to the system, or neither"));
    all.push_back(choice("when_full", {"block", "error"}, {"spill", "drop"},
                         "a step that finds no room waits, or fails"));
    all.push_back(
        option("queue_bytes", Shape::text, "BYTES", "0",
               "that may wait for the writer; 0: those of `depth` steps, at least of one"));
    all.push_back(option("depth", Shape::number, "N", "2",
                         "steps that may be without a final status; 0: each is waited for"));
    for (const auto& [name, most] : {std::pair("deflate", 9), std::pair("zstd", 22)}) {
        Option level = option(
            name, Shape::number, "LEVEL", "0",
            "compression of variables that say nothing; 0: none, at most " + std::to_string(most));
        level.key.max = static_cast<std::uint64_t>(most);
        all.push_back(level);
    }
    all.push_back(option("shuffle", Shape::flag, "true|false", "",
                         "bytes of equal weight side by side before they are compressed"));
    for (std::size_t i = first; i < all.size(); ++i) all[i].of_collection = true;
}

/// Not said on the command line, where no collection is named.
bool only_of_collection(const Option& one) { return one.key.name == "file"; }

core::KeyTable keys(bool of_collection) {
    core::KeyTable table;
    for (const Option& one : options())
        if (of_collection ? one.of_collection : !only_of_collection(one)) table.add(one.key);
    return table;
}

}  // namespace

std::string Option::variable() const { return std::string(variable_prefix) + upper(key.name); }

std::string Option::form(Origin source) const {
    switch (source) {
        case Origin::environment:
            return "set " + variable() + "=" + takes + ", or unset it";
        case Origin::command_line:
            return "write --" + word + " " + takes;
        case Origin::file:
        case Origin::default_value:
            break;
    }
    const bool text = key.shape == Shape::choice || key.shape == Shape::text;
    return "write `" + key.name + " = " + (text ? "\"" + takes + "\"" : takes) + "`";
}

const std::vector<Option>& options() {
    static const std::vector<Option> all = [] {
        std::vector<Option> made;
        add_who_serves(made);
        add_bounds(made);
        add_of_collections(made);
        return made;
    }();
    return all;
}

const Option* find_option(std::string_view key) {
    for (const Option& one : options())
        if (one.key.name == key) return &one;
    return nullptr;
}

const Option* option_of_word(std::string_view word) {
    for (const Option& one : options())
        if (one.word == word && !only_of_collection(one)) return &one;
    return nullptr;
}

core::KeyTable server_keys() { return keys(false); }
core::KeyTable collection_keys() { return keys(true); }

void take(Config& to, const std::string& key, std::string_view text, Origin source,
          const std::string& place) {
    try {
        const bool all = key == "npes_model" && text == "-1";
        to.add_value(key, all ? "0" : text, source, place);
    } catch (const Error& error) {
        const bool is_known = to.table().find(key) != nullptr;
        const bool twice = is_known && to.given(key) && to.source(key) == source;
        std::string remedy = "docs/reference/server_options.md lists all keys";
        if (twice)
            remedy = error.remedy();
        else if (is_known)
            remedy = find_option(key)->form(source);
        throw Error(error.code(), error.message(), error.where(), remedy);
    }
}

Error wrong(const Config& config, const std::string& key, const std::string& message) {
    return config.error(key, message, find_option(key)->form(config.source(key)));
}

std::uint64_t bytes_of(const Config& config, const std::string& key) {
    try {
        return core::parse_bytes(config.text(key), key);
    } catch (const Error& error) {
        throw wrong(config, key, key + ": " + error.message());
    }
}

void check_built(const Config& config) {
    for (const Option& one : options()) {
        const std::string& name = one.key.name;
        if (!config.given(name)) continue;
        std::string value;
        bool there = true;
        if (one.key.shape == Shape::choice) {
            value = config.text(name);
            there = std::find(one.unbuilt.begin(), one.unbuilt.end(), value) == one.unbuilt.end();
        } else if (!one.built) {
            const bool is_flag = one.key.shape == Shape::flag;
            value = is_flag ? "true" : core::joined(config.words(name), " ");
            there = is_flag ? !config.flag(name) : value == "0";
        }
        if (!there)
            throw Error(Code::unsupported, name + " " + value + " is not built yet",
                        config.place(name), "leave it out, or " + one.form(config.source(name)));
    }
}

std::string options_page() {
    std::string text =
        "| option | variable | `server.toml` | default | meaning |\n|---|---|---|---|---|\n";
    for (const Option& one : options()) {
        std::string takes = one.takes;
        for (std::size_t at = 0; (at = takes.find('|', at)) != std::string::npos; at += 2)
            takes.replace(at, 1, "\\|");
        const Key& key = one.key;
        const bool on = key.default_text == "1" && key.shape == Shape::flag;
        const std::string by_default =
            key.shape == Shape::flag ? (on ? "true" : "false") : key.default_text;
        const bool anywhere = !only_of_collection(one);
        text += "| " + (anywhere ? "`--" + one.word + " " + takes + "`" : "") + " | " +
                (anywhere ? "`" + one.variable() + "`" : "") + " | " +
                (one.in_file ? "`" + key.name + "`" : "") +
                (one.of_collection && anywhere ? ", also of a collection" : "") + " | " +
                by_default + " | " + key.help +
                (one.unbuilt.empty() ? "" : "; not built yet: " + core::joined(one.unbuilt, ", ")) +
                " |\n";
    }
    return text;
}

}  // namespace tailrace::server
