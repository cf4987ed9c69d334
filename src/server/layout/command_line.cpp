// SPDX-License-Identifier: Apache-2.0
// Words of a command line that the model shares with its server.
#include <algorithm>
#include <array>

#include "core/config_values.hpp"
#include "server/layout/layout.hpp"
#include "server/layout/options.hpp"

namespace tailrace::server {

using core::Code;
using core::Config;
using core::Error;
using core::Origin;
using core::Shape;
using core::Words;

namespace {

/// The dash of keyboards, and those that word processors make of it (U+2010 to U+2015, U+2212).
constexpr std::array<std::string_view, 8> dashes = {"-",
                                                    "\xe2\x80\x90",
                                                    "\xe2\x80\x91",
                                                    "\xe2\x80\x92",
                                                    "\xe2\x80\x93",
                                                    "\xe2\x80\x94",
                                                    "\xe2\x80\x95",
                                                    "\xe2\x88\x92"};

/// Takes dashes away from the front.  @returns how many
std::size_t strip_dashes(std::string_view& word) {
    std::size_t number = 0;
    const auto leads = [&word](std::string_view dash) { return word.starts_with(dash); };
    for (;; ++number) {
        const auto* const dash = std::find_if(dashes.begin(), dashes.end(), leads);
        if (dash == dashes.end()) return number;
        word.remove_prefix(dash->size());
    }
}

bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "on" and the like, and what Fortran writes, as Config reads it; empty if it is no such word.
std::string switch_word(const std::string& word) {
    std::string plain = core::lower(word);
    if (plain == ".true.") return "true";
    if (plain == ".false.") return "false";
    for (const char* known : {"true", "false", "on", "off", "yes", "no", "1", "0"})
        if (plain == known) return plain;
    return "";
}

class CommandLine {
public:
    CommandLine(const Words& words, Config& to) : x_words(words), x_to(to) {}

    Words read() {
        while (x_at < x_words.size() && x_words[x_at] != "--") {
            const std::string& word = x_words[x_at++];
            if (!read_option(word)) x_rest.push_back(word);
        }
        x_rest.insert(x_rest.end(), x_words.begin() + static_cast<std::ptrdiff_t>(x_at),
                      x_words.end());
        return std::move(x_rest);
    }

private:
    /// @returns false if the word is the model's
    bool read_option(std::string_view word) {
        const std::string_view whole = word;
        if (strip_dashes(word) == 0) return false;
        const auto equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const Option* option = option_of_word(name);
        if (option == nullptr) {
            check_not_meant(name, whole.substr(0, whole.find('=')));
            return false;
        }
        const std::string text = equals == std::string_view::npos
                                     ? value(*option)
                                     : std::string(word.substr(equals + 1));
        if (text.empty())
            throw Error(Code::bad_input, "--" + option->word + " needs a value",
                        "--" + option->word, option->form(Origin::command_line));
        const std::string as_switch =
            option->key.shape == Shape::flag ? switch_word(text) : std::string();
        take(x_to, option->key.name, as_switch.empty() ? text : as_switch, Origin::command_line,
             "--" + option->word);
        return true;
    }
    static void check_not_meant(std::string_view name, std::string_view whole) {
        std::vector<std::string> names;
        for (const Option& one : options())
            if (option_of_word(one.word)) names.push_back(one.word);
        const std::string guess = core::nearest(name, names);
        if (guess.empty()) return;
        throw Error(
            Code::bad_input,
            "unknown option " + core::in_quotes(whole) + ". Did you mean \"--" + guess + "\"?",
            "command line",
            option_of_word(guess)->form(Origin::command_line) +
                "; an option of the model that looks like it goes behind a word --");
    }
    /// The words behind an option that belong to it.
    std::string value(const Option& option) {
        const std::string next = x_at < x_words.size() ? x_words[x_at] : "";
        if (option.key.shape == Shape::flag) {
            std::string word = switch_word(next);
            if (word.empty()) return "true";
            ++x_at;
            return word;
        }
        std::string_view bare = next;
        if (next.empty() || (strip_dashes(bare) > 0 && !is_number(bare))) return "";
        std::string text = x_words[x_at++];
        while (option.key.shape == Shape::words && x_at < x_words.size() &&
               is_number(x_words[x_at]))
            text += " " + x_words[x_at++];
        return text;
    }

    const Words& x_words;
    Config& x_to;
    std::size_t x_at = 0;
    Words x_rest;
};

void read_environment(const Variables& environment, Config& to) {
    for (const auto& [name, text] : environment) {
        if (!name.starts_with(variable_prefix)) continue;
        const std::string key = core::lower(std::string_view(name).substr(variable_prefix.size()));
        if (to.table().find(key) != nullptr) {
            const std::string_view value = core::trimmed(text);
            if (!value.empty()) take(to, key, value, Origin::environment, name);
            continue;
        }
        try {
            to.add_environment({{name, text}}, variable_prefix);
        } catch (const Error& error) {
            throw Error(error.code(), error.message(), error.where(),
                        "unset it; docs/reference/server_options.md lists all variables");
        }
    }
}

}  // namespace

Given given(const Words& words, const Variables& environment) {
    Given all{Config(server_keys())};
    all.rest = CommandLine(words, all.options).read();
    read_environment(environment, all.options);
    return all;
}

}  // namespace tailrace::server
