// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/h5bench.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/config_values.hpp"
#include "core/log.hpp"
#include "kernels/particle/h5bench_keys.hpp"

namespace tailrace::kernels::particle {

namespace {

using core::Code;
using core::Error;
using core::in_quotes;
using Json = nlohmann::ordered_json;

std::size_t line_of(const std::string& text, std::size_t byte) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Patterns of h5bench's reader that are none of ours.
bool is_readers_pattern(const KeyValue& line) {
    static const std::set<std::string> patterns{"ldc", "rdc", "cs", "prl"};
    return line.key == "read_option" && patterns.contains(line.value);
}

void tell_no_effect(const std::string& what, const std::string& place) {
    core::log(core::LogLevel::warning, what + " has no effect here (" + place + ")");
}

/// Lines under the numbers that they have in the original.
class Lines {
public:
    void put(std::size_t number, const KeyValue& line) {
        while (number <= x_lines.size() && !x_lines[number - 1].empty()) ++number;
        if (x_lines.size() < number) x_lines.resize(number);
        x_lines[number - 1] = line.key + " " + line.value;
    }
    [[nodiscard]] std::string text() const {
        std::string text;
        for (const std::string& line : x_lines) text += line + "\n";
        return text;
    }

private:
    std::vector<std::string> x_lines;
};

/// Parsed strictly: a key that stands twice in an object is an error too.
Json parsed(const std::string& text, const std::string& origin) {
    std::vector<std::set<std::string>> keys;
    std::string twice;
    const auto look = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key &&
            !keys.back().insert(value.get<std::string>()).second)
            twice = value.get<std::string>();
        return true;
    };
    try {
        Json json = Json::parse(text, look);
        if (!twice.empty())
            throw Error(Code::bad_input,
                        "the key " + in_quotes(twice) +
                            " stands twice in an "
                            "object",
                        origin, "keep one of them");
        return json;
    } catch (const nlohmann::json::parse_error& error) {
        throw Error(Code::bad_input, "this is no JSON",
                    origin + ":" + std::to_string(line_of(text, error.byte)),
                    "look for a missing comma, quotation mark or bracket in front of it");
    }
}

class Reader {
public:
    Reader(const std::string& text, const std::string& origin) : x_text(text), x_origin(origin) {}

    std::string read() {
        const Json json = parsed(x_text, x_origin);
        if (!json.is_object()) throw wrong_shape("the file", "an object");
        if (json.contains("benchmarks"))
            whole_file(json);
        else if (json.contains("configuration"))
            benchmark(json);
        else
            write(json);
        if (!x_has_write)
            throw Error(Code::missing_key, "there is no benchmark of type write", x_origin,
                        "put one in front of the read: tailrace-particle reads what it has "
                        "written itself");
        return x_lines.text();
    }

private:
    [[nodiscard]] std::string place() const {
        return x_origin + ":" + std::to_string(line_of(x_text, x_at));
    }
    [[nodiscard]] Error wrong_shape(const std::string& what, const std::string& shape) const {
        return {Code::bad_input, what + " is not " + shape, place(),
                "see h5bench's documentation of its configuration file"};
    }
    /// Goes on to a key; members are read in their order in the file.
    void go_to(const std::string& key) {
        const std::size_t found = x_text.find("\"" + key + "\"", x_at);
        if (found != std::string::npos) x_at = found + 1;
    }

    [[nodiscard]] std::string text_of(const std::string& key, const Json& value) const {
        if (value.is_string()) {
            const auto text = value.get<std::string>();
            // A line feed would make an input line of its own of the rest.
            if (std::any_of(text.begin(), text.end(),
                            [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
                throw wrong_shape(key, "a text without control characters");
            return text;
        }
        if (value.is_number() || value.is_boolean()) return value.dump();
        throw wrong_shape(key, "a text or a number");
    }

    void emit(const KeyValue& line) { x_lines.put(line_of(x_text, x_at), line); }

    [[nodiscard]] Error unknown(const std::string& key,
                                const std::vector<std::string>& known) const {
        const std::string guess = core::nearest(key, known);
        std::string all;
        for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
        return {Code::unknown_key,
                "unknown key " + in_quotes(key) +
                    (guess.empty() ? "" : ". Did you mean \"" + guess + "\"?"),
                place(), "known here: " + all};
    }

    void whole_file(const Json& json) {
        for (const auto& [key, value] : json.items()) {
            go_to(key);
            if (key == "directory")
                x_directory = text_of(key, value);
            else if (key == "vol")
                vol(value);
            else if (key == "file-system")
                file_system(value);
            else if (key != "benchmarks" && key != "mpi")
                throw unknown(key, {"mpi", "vol", "file-system", "directory", "benchmarks"});
            if (key != "benchmarks") continue;
            if (json.contains("directory")) x_directory = text_of(key, json["directory"]);
            if (!value.is_array()) throw wrong_shape(key, "a list");
            for (const Json& one : value) benchmark(one);
        }
    }

    void vol(const Json& value) {
        if (!value.is_object()) throw wrong_shape("vol", "an object");
        for (const auto& [key, text] : value.items()) {
            go_to(key);
            if (key == "connector")
                throw Error(Code::bad_input,
                            "a VOL connector (" + in_quotes(text_of(key, text)) +
                                ") would change what is measured",
                            place(),
                            "take it away; to measure with it, set HDF5_VOL_CONNECTOR yourself");
            if (key != "library" && key != "path" && key != "preload")
                throw unknown(key, {"library", "path", "preload", "connector"});
            left_out(key + " of vol");
        }
    }

    void file_system(const Json& value) {
        if (!value.is_object()) throw wrong_shape("file-system", "an object");
        for (const auto& [system, options] : value.items()) {
            go_to(system);
            if (system != "lustre") throw unknown(system, {"lustre"});
            if (!options.is_object()) throw wrong_shape(system, "an object");
            for (const auto& [key, text] : options.items()) {
                go_to(key);
                if (key != "stripe-size" && key != "stripe-count")
                    throw unknown(key, {"stripe-size", "stripe-count"});
                emit({key == "stripe-size" ? "lfs_stripe_size" : "lfs_stripe_count",
                      number_of(key, text_of(key, text), place())});
            }
        }
    }

    void benchmark(const Json& value) {
        if (!value.is_object()) throw wrong_shape("a benchmark", "an object");
        const std::string type =
            value.contains("benchmark") ? text_of("benchmark", value["benchmark"]) : "write";
        const std::size_t begin = x_at;
        go_to("benchmark");
        if (type != "write" && type != "read") {
            left_out("the benchmark " + in_quotes(type));
            return;
        }
        if (type == "write" ? x_has_write : x_has_read)
            throw Error(Code::bad_input, "a second benchmark of type " + type, place(),
                        "a run writes one file and reads it in one pattern: make two files of it");
        if (!value.contains("configuration"))
            throw Error(Code::missing_key, "the benchmark has no configuration", place(),
                        "add \"configuration\": {...}");
        x_at = begin;
        for (const auto& [key, part] : value.items()) {
            go_to(key);
            if (key == "file")
                file(type, text_of(key, part));
            else if (key == "configuration")
                type == "write" ? write(part) : read_after(part);
            else if (key != "benchmark")
                throw unknown(key, {"benchmark", "file", "configuration"});
        }
    }

    void file(const std::string& type, const std::string& name) {
        if (type == "write") {
            x_file = name;
            emit({"filename", in_directory(name)});
            if (!x_directory.empty()) emit({"directory", x_directory});
        } else if (name != x_file) {
            throw Error(Code::bad_input,
                        "the benchmark reads " + in_quotes(name) + ", but " + in_quotes(x_file) +
                            " is written",
                        place(), "tailrace-particle reads what it has written itself");
        }
    }

    [[nodiscard]] std::string in_directory(const std::string& name) const {
        return (std::filesystem::path(x_directory) / name).string();
    }

    void write(const Json& configuration) {
        x_has_write = true;
        if (!configuration.is_object()) throw wrong_shape("configuration", "an object");
        for (const auto& [key, value] : configuration.items()) {
            go_to(key);
            KeyValue line = key_value(key, text_of(key, value), place());
            x_written[line.key] = line.value;
            if (line.key == "csv_file") line.value = in_directory(line.value);
            if (is_readers_pattern(line))
                left_out(key + " " + line.value + " of the write");
            else
                emit(line);
        }
        if (!x_written.contains("dim_1"))
            throw Error(Code::missing_key, "the write has no DIM_1", place(),
                        "add \"DIM_1\" with the particles of a rank");
    }

    /// Only what says which particles are read; the rest must be as it was written, or has no
    /// effect on a read in h5bench either.
    void read_after(const Json& configuration) {
        if (!configuration.is_object()) throw wrong_shape("configuration", "an object");
        x_has_read = true;
        if (left_out_for_its_pattern(configuration)) return;
        std::map<std::string, std::string> given;
        for (const auto& [key, value] : configuration.items()) {
            go_to(key);
            const KeyValue line = key_value(key, text_of(key, value), place());
            given[line.key] = line.value;
            take_for_read(key, line);
        }
        // h5bench reads blocks where FILE_PATTERN says so, and all where no number says how many.
        const bool counted = given.contains("to_read_num_particles");
        if (given["file_pattern"] == "strided")
            emit({"read_option", "strided"});
        else if (given.contains("read_option") && (counted || given["read_option"] != "partial"))
            emit({"read_option", given["read_option"]});
        else
            emit({"read_option", counted ? "partial" : "full"});
    }

    /// The file is written all the same: nothing of this read is about that.
    [[nodiscard]] bool left_out_for_its_pattern(const Json& configuration) {
        constexpr const char* key = "READ_OPTION";
        if (!configuration.contains(key)) return false;
        const std::string value = text_of(key, configuration[key]);
        if (!is_readers_pattern(key_value(key, value, place()))) return false;
        go_to(key);
        left_out("the benchmark \"read\" in the pattern " + value);
        return true;
    }

    void take_for_read(const std::string& key, const KeyValue& line) {
        static const std::set<std::string> choose{"to_read_num_particles", "stride_size",
                                                  "block_size", "block_cnt"};
        static const std::set<std::string> same{"timesteps", "num_dims", "dim_1",
                                                "dim_2",     "dim_3",    "num_particles"};
        static const std::set<std::string> idle{"mem_pattern",
                                                "file_pattern",
                                                "collective_data",
                                                "collective_metadata",
                                                "mode",
                                                "delayed_close_timesteps",
                                                "emulated_compute_time_per_timestep",
                                                "stride_size_2",
                                                "stride_size_3",
                                                "block_size_2",
                                                "block_size_3",
                                                "io_mem_limit",
                                                "env_metadata_file",
                                                "read_option",
                                                "compress",
                                                "compress_filter",
                                                "chunk_dim_1",
                                                "chunk_dim_2",
                                                "chunk_dim_3",
                                                "align",
                                                "align_len",
                                                "align_threshold"};
        if (line.key == "csv_file") return emit({"read_csv_file", in_directory(line.value)});
        const auto written = x_written.find(line.key);
        const bool was_written = written != x_written.end();
        const bool compared = same.contains(line.key) || (choose.contains(line.key) && was_written);
        if (compared) {
            if (was_written && written->second != line.value)
                throw Error(
                    Code::bad_input,
                    "the read has " + key + " " + line.value + ", the write " + written->second,
                    place(), "make them equal, or read in a run of its own");
        } else if (choose.contains(line.key) || !idle.contains(line.key)) {
            emit(line);  // unknown keys: the configuration says so
        } else if (line.key == "collective_data" || line.key == "collective_metadata") {
            if (line.value != (was_written ? written->second : "no"))
                left_out(key + " of the read, which is done as the write: it");
        }
    }

    void left_out(const std::string& what) const { tell_no_effect(what, place()); }

    const std::string& x_text;
    const std::string& x_origin;
    std::size_t x_at = 0;
    Lines x_lines;
    std::string x_directory, x_file;
    bool x_has_write = false, x_has_read = false;
    std::map<std::string, std::string> x_written;
};

/// "DIM_1=1024 # comment" as a line of ours; other lines stay as they are.
std::string line_of_old(const std::string& line, const std::string& place) {
    const std::size_t equals = line.find('=');
    const std::string key = line.substr(0, equals);
    const bool is_old =
        equals != std::string::npos && !key.empty() &&
        key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos;
    if (!is_old) return line;
    std::string value = line.substr(equals + 1);
    value = std::string(core::trimmed(value.substr(0, value.find(" #"))));
    if (key == "IO_OPERATION") {
        if (value == "WRITE") return {};
        throw Error(Code::bad_input, "IO_OPERATION " + in_quotes(value), place,
                    "only WRITE is known in lines; READ_OPTION then says how the file is read");
    }
    const KeyValue ours = key_value(key, value, place);
    if (is_readers_pattern(ours)) {
        tell_no_effect(key + " " + value, place);
        return {};
    }
    return ours.key + " " + ours.value;
}

}  // namespace

std::string lines_of(const std::string& text, const std::string& origin) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{') return Reader(text, origin).read();
    std::string lines;
    std::size_t number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines += line_of_old(text.substr(at, end - at), origin + ":" + std::to_string(number));
        if (end < text.size()) lines += '\n';
        at = end + 1;
    }
    return lines;
}

}  // namespace tailrace::kernels::particle
