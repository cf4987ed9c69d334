// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace tailrace::tools {

namespace {

using core::Code;
using core::Error;

// Cray MPICH's variable with hints; its end is the name of the key that takes them.
constexpr std::string_view cray_hints = "MPICH_MPIIO_HINTS";
constexpr std::string_view cray_prefix = "MPICH_MPIIO_";
constexpr std::size_t longest_input = 1 << 20;  // an input file has some dozen lines

/// Bytes of a dash at the begin of `text`: '-', or U+2010 to U+2015 or U+2212 in UTF-8; else 0.
std::size_t dash_bytes(std::string_view text) {
    if (!text.empty() && text[0] == '-') return 1;
    if (text.size() < 3 || text[0] != '\xe2') return 0;
    const bool hyphen_or_dash = text[1] == '\x80' && text[2] >= '\x90' && text[2] <= '\x95';
    const bool minus = text[1] == '\x88' && text[2] == '\x92';
    return hyphen_or_dash || minus ? 3 : 0;
}

/// "--input" for "--input", "—input" and "–-input"; what does not begin with a dash stays.
std::string with_plain_dashes(std::string_view text) {
    std::string_view rest = text;
    while (const std::size_t bytes = dash_bytes(rest)) rest.remove_prefix(bytes);
    if (rest.size() == text.size() || rest.empty()) return std::string(text);
    return (rest.size() == 1 ? "-" : "--") + std::string(rest);
}

Error unknown_option(const std::string& option) {
    std::string message = "unknown option " + core::in_quotes(option);
    const std::string guess =
        core::nearest(option, {"--help", "--version", "--dry-run", "--input", "--resume",
                               "--progress", "--ranks", "--elsewhere"});
    if (!guess.empty()) message += ". Did you mean \"" + guess + "\"?";
    return {Code::unknown_key, message, "<command line>", "--help lists options and keys"};
}

std::string take_value(const std::string& option, int argc, const char* const* argv, int& at) {
    if (at + 1 >= argc)
        throw Error(Code::bad_input, option + " needs a value", "<command line>",
                    "write " + option + " FILE");
    return argv[++at];
}

void set_input(Invocation& invocation, const std::string& file) {
    if (invocation.input_file)
        throw Error(Code::bad_input, "--input is given twice", "<command line>",
                    "keep one; it was " + core::in_quotes(*invocation.input_file) + " first");
    if (file.empty())
        throw Error(Code::bad_input, "--input needs a value", "<command line>",
                    "write --input FILE");
    invocation.input_file = file;
}

std::uint64_t ranks_of(const std::string& word) {
    std::string why;
    const auto ranks = core::parse_number(word, why);
    if (!ranks || *ranks == 0 || *ranks > 2147483647)
        throw Error(Code::bad_input, core::in_quotes(word) + " is no number of ranks",
                    "<command line>", "write --ranks N, N at least 1");
    return *ranks;
}

bool ends_with_done(const std::string& text, std::size_t& checked) {
    for (std::size_t end = text.find('\n', checked); end != std::string::npos;
         end = text.find('\n', checked)) {
        const bool done = core::is_done(std::string_view(text).substr(checked, end - checked));
        checked = end + 1;
        if (done) return true;
    }
    return false;
}

/// Everything up to a line DONE or the end. A terminal gives line by line, so that nothing behind
/// DONE is taken from it.
std::string read_text(int fd, const std::string& origin) {
    std::string text;
    std::size_t checked = 0;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Error(Code::no_such_file, "cannot read the input: " + core::describe_errno(errno),
                        origin, "give a text file with --input");
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (ends_with_done(text, checked)) return text;
        if (text.size() > longest_input)
            throw Error(Code::bad_input, "more than 1 MiB of input and no line DONE", origin,
                        "give lines `key value` that end with `DONE`");
    }
}

std::string read_file(const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        throw Error(Code::no_such_file,
                    "cannot open the input file: " + core::describe_errno(errno), name,
                    "check the name behind --input");
    std::string text;
    try {
        text = read_text(fd, name);
    } catch (...) {
        ::close(fd);
        throw;
    }
    ::close(fd);
    return text;
}

void pack(std::string& text, std::string_view field) {
    text += std::to_string(field.size()) + ':';
    text += field;
}

std::string unpack(std::string_view& text) {
    const std::size_t colon = text.find(':');
    std::string why;
    const auto size = core::parse_number(text.substr(0, colon), why);
    std::string field(text.substr(colon + 1, static_cast<std::size_t>(size.value())));
    text.remove_prefix(colon + 1 + field.size());
    return field;
}

}  // namespace

Invocation parse_command_line(int argc, const char* const* argv) {
    Invocation invocation;
    for (int i = 1; i < argc; ++i) {
        const std::string word = with_plain_dashes(argv[i]);
        if (word == "--help" || word == "-h")
            invocation.help = true;
        else if (word == "--version")
            invocation.version = true;
        else if (word == "--dry-run")
            invocation.dry_run = true;
        else if (word == "--elsewhere")
            invocation.elsewhere = true;
        else if (word == "--resume")
            invocation.resume = true;
        else if (word == "--progress")
            invocation.progress = true;
        else if (word == "--ranks")
            invocation.ranks = ranks_of(take_value(word, argc, argv, i));
        else if (word == "--input" || word == "-i")
            set_input(invocation, take_value(word, argc, argv, i));
        else if (word.rfind("--input=", 0) == 0)
            set_input(invocation, word.substr(8));
        else if (word.rfind('-', 0) == 0)
            throw unknown_option(word);
        else
            invocation.assignments.push_back(word);
    }
    if (invocation.ranks != 0 && !invocation.dry_run)
        throw Error(Code::bad_input, "--ranks is for a dry run", "<command line>",
                    "the launcher says how many ranks a run has: mpiexec -n " +
                        std::to_string(invocation.ranks));
    if (invocation.elsewhere && !invocation.dry_run)
        throw Error(Code::bad_input, "--elsewhere is for a dry run", "<command line>",
                    "take it away: a run needs this machine's memory and disk");
    invocation.from_stdin = !invocation.input_file && invocation.assignments.empty();
    if (invocation.input_file == "-") invocation.from_stdin = true;
    return invocation;
}

RawInputs read_inputs(const Invocation& invocation, const std::string& prefix) {
    RawInputs raw;
    raw.assignments = invocation.assignments;
    if (invocation.from_stdin) {
        raw.origin = "<stdin>";
        raw.needs_done = raw.has_lines = true;
        raw.lines = read_text(STDIN_FILENO, raw.origin);
    } else if (invocation.input_file) {
        raw.origin = *invocation.input_file;
        raw.has_lines = true;
        raw.lines = read_file(raw.origin);
    }
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text(*variable);
        const std::size_t equals = text.find('=');
        const std::string_view name = text.substr(0, equals);
        if ((text.substr(0, prefix.size()) == prefix || name == cray_hints) &&
            equals != std::string_view::npos)
            raw.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return raw;
}

std::string RawInputs::packed() const {
    std::string text;
    pack(text, has_lines ? "1" : "0");
    pack(text, needs_done ? "1" : "0");
    pack(text, lines);
    pack(text, origin);
    pack(text, std::to_string(environment.size()));
    for (const auto& [name, value] : environment) {
        pack(text, name);
        pack(text, value);
    }
    for (const std::string& assignment : assignments) pack(text, assignment);
    return text;
}

RawInputs RawInputs::unpacked(const std::string& packed) {
    std::string_view text = packed;
    RawInputs raw;
    raw.has_lines = unpack(text) == "1";
    raw.needs_done = unpack(text) == "1";
    raw.lines = unpack(text);
    raw.origin = unpack(text);
    std::string why;
    const auto variables = core::parse_number(unpack(text), why);
    for (std::uint64_t i = 0; i < variables.value(); ++i) {
        std::string name = unpack(text);
        raw.environment.emplace_back(std::move(name), unpack(text));
    }
    while (!text.empty()) raw.assignments.push_back(unpack(text));
    return raw;
}

core::Config RawInputs::config(const core::KeyTable& table, const std::string& prefix) const {
    core::Config config(table);
    if (has_lines) config.add_lines(lines, origin, needs_done);
    config.add_environment(environment, prefix);
    const bool own = config.given("hints") ||
                     std::any_of(environment.begin(), environment.end(), [&](const auto& one) {
                         return one.first == prefix + "HINTS" && !one.second.empty();
                     });
    if (!own && table.find("hints") != nullptr) config.add_environment(environment, cray_prefix);
    for (const std::string& assignment : assignments) config.add_argument(assignment);
    config.finish();
    return config;
}

}  // namespace tailrace::tools
