// SPDX-License-Identifier: Apache-2.0
// Strict configuration: a table of typed keys, and values from lines, the environment and the
// command line. An unknown key, a key given twice or a value of the wrong shape is an Error that
// names the place, the value and the remedy.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace tailrace::core {

/// flag: on or off ("precreate", "precreate 1"). number: an unsigned 64-bit whole number.
/// real: a finite decimal >= 0. text: the rest of the line. choice: one of Key::choices.
/// tuple: Key::tuple_size numbers ("2 2 2", on a command line "2x2x2"). words: blank-separated.
/// pairs: "name=value" per line; the key may stand several times with different names.
enum class Shape { flag, number, real, text, choice, tuple, words, pairs };

struct Key {
    std::string name;
    Shape shape = Shape::flag;
    std::string default_text;  ///< as a line would give it; empty: no default (a flag: off)
    std::string unit;          ///< "bytes", "elements", "s"; empty: none
    std::string help;          ///< one sentence
    std::string group;         ///< heading in the help text
    bool required = false;
    bool repeatable = false;  ///< words only: each line adds one list
    std::uint64_t min = 0;    ///< number, tuple: smallest value allowed
    std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    std::size_t tuple_size = 3;
    std::size_t least_words = 1;  ///< words: how many are needed
    std::size_t most_words = std::numeric_limits<std::size_t>::max();
    std::vector<std::string> choices{};
    std::vector<std::string> used_by{};  ///< formats for which it has a meaning; empty: all
};

/// The keys that a program knows, in the order in which its help lists them.
class KeyTable {
public:
    /// Adds a key. A key of the same name and shape that another room added already gets this
    /// one's `used_by` in addition: formats share keys such as `hint`.  [local]
    /// @throws Error{Code::internal} when the name stands for another shape
    void add(const Key& key);
    /// The key, or nullptr.  [local]
    [[nodiscard]] const Key* find(std::string_view name) const noexcept;
    [[nodiscard]] const std::vector<Key>& keys() const noexcept { return x_keys; }  ///< [local]
    /// "processor X Y Z" for help and messages.  [local]
    [[nodiscard]] static std::string usage(const Key& key);
    /// All keys by group: usage, unit, default and help, for --help.  [local]
    [[nodiscard]] std::string help() const;

private:
    std::vector<Key> x_keys;
};

/// Where a value comes from, in rising precedence.
enum class Origin { default_value, file, environment, command_line };

/// The name of a source as it stands in Records: "default", "file", "environment", "command line".
/// [local]
[[nodiscard]] std::string_view name(Origin source) noexcept;

using Words = std::vector<std::string>;
using NamedValues = std::map<std::string, std::string>;
using Value = std::variant<bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>,
                           Words, std::vector<Words>, NamedValues>;

/// One line of the effective configuration.
struct Setting {
    std::string key;
    Value value;
    std::string text;  ///< as an input line would give it, without the key
    Origin source = Origin::default_value;
    std::string
        place;  ///< "run.in:4", "<stdin>:7", "<command line>", "TAILRACE_SEISM_TIME", "default"
};

/// Values for the keys of a table. Call add_* in any order, then finish(), then read.
class Config {
public:
    explicit Config(KeyTable table) : x_table(std::move(table)) {}

    /// Takes lines "key value..."; `#` begins a comment (in a text, words or pairs value only after
    /// a blank). Stops at a line whose first word is `DONE`.  [local]
    /// @param origin     for messages: a file name or "<stdin>"
    /// @param needs_done an end without DONE is an error
    /// @throws Error{unknown_key | bad_input}
    void add_lines(std::string_view text, const std::string& origin, bool needs_done);
    /// Takes "key=value", or "key" for a flag.  [local]
    void add_argument(const std::string& argument);
    /// Takes every variable whose name begins with `prefix` (TAILRACE_SEISM_): the rest in lower
    /// case is the key. Several pairs in one variable are separated by ';'. An empty variable
    /// counts as not set.  [local]
    void add_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                         std::string_view prefix);
    /// Takes one value that another kind of file or command line gives.  [local]
    /// @param place  for messages: "server.toml:4" or "--depth"
    void add_value(const std::string& name, std::string_view text, Origin source,
                   const std::string& place);
    /// Gives a key the value that follows from others, in place of its default.  [local]
    /// @param place  where the others stand
    void derive(const std::string& name, const std::string& text, const std::string& place);
    /// Takes a value away that another one, of higher precedence, stands for.  [local]
    void forget(std::string_view name);
    /// Fills in the defaults and checks that required keys are there.  [local]
    /// @throws Error{Code::missing_key}
    void finish();

    [[nodiscard]] const KeyTable& table() const noexcept { return x_table; }  ///< [local]
    /// True where something other than the default gave the value.  [local]
    [[nodiscard]] bool given(std::string_view key) const noexcept;
    /// True where there is a value at all.  [local]
    [[nodiscard]] bool has(std::string_view key) const noexcept;

    // The value of a key of that shape.  [local]
    // @throws Error{Code::internal} where the key has no value or another shape: has() asks first
    [[nodiscard]] bool flag(std::string_view key) const;
    [[nodiscard]] std::uint64_t number(std::string_view key) const;
    [[nodiscard]] double real(std::string_view key) const;
    [[nodiscard]] const std::string& text(std::string_view key) const;  ///< also of a choice
    [[nodiscard]] const std::vector<std::uint64_t>& tuple(std::string_view key) const;
    [[nodiscard]] const Words& words(std::string_view key) const;
    [[nodiscard]] const std::vector<Words>& lists(std::string_view key) const;  ///< repeatable
    [[nodiscard]] NamedValues pairs(std::string_view key) const;  ///< empty where none was given

    /// Where the value comes from; the default where there is none.  [local]
    [[nodiscard]] Origin source(std::string_view key) const noexcept;
    /// "run.in:4", or "default"; empty where the key has no value.  [local]
    [[nodiscard]] std::string place(std::string_view key) const;
    /// The places of the lines of a repeatable key, in the order of lists().  [local]
    [[nodiscard]] const std::vector<std::string>& list_places(std::string_view key) const;
    /// An Error about the value of `key`, at its place.  [local]
    [[nodiscard]] Error error(std::string_view key, std::string message, std::string remedy,
                              Code code = Code::bad_input) const;
    /// Every key that has a value, in the order of the table.  [local]
    [[nodiscard]] std::vector<Setting> effective() const;
    /// The effective configuration as input lines, each with its place as a comment, and DONE; it
    /// can be fed to the program again.  [local]
    [[nodiscard]] std::string listing() const;

private:
    struct Given {
        Value value;
        std::string text;
        Origin source;
        std::string place;
        std::map<std::string, std::pair<Origin, std::string>> pair_places;
        std::vector<std::string> list_places;  ///< one per line of a repeatable key
    };
    void set(const std::string& key, std::string_view value, bool has_value, Origin source,
             const std::string& place);
    void merge(const Key& key, Given&& fresh);
    const Given& require(std::string_view key) const;

    KeyTable x_table;
    std::map<std::string, Given, std::less<>> x_values;
};

/// True for a line that ends the input: its first word is DONE.  [local]
[[nodiscard]] bool is_done(std::string_view line) noexcept;
/// A whole number of 64 bits: digits only.  [local]
/// @returns nothing and sets `why` ("is negative", "does not fit 64 bits", "is not a whole number")
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, std::string& why);
/// A finite decimal number >= 0.  [local]
[[nodiscard]] std::optional<double> parse_real(std::string_view text, std::string& why);
/// Words of a text, separated by blanks and tabs.  [local]
[[nodiscard]] Words split_words(std::string_view text);
/// The value in quotation marks, control characters escaped and shortened to 80, for messages.
/// [local]
[[nodiscard]] std::string in_quotes(std::string_view value);

}  // namespace tailrace::core
