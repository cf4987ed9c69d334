// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/amrex_lines.hpp"

#include <algorithm>
#include <map>

#include "core/config_values.hpp"

namespace tailrace::kernels::amr {

namespace {

/// What stands before the first '=', if it is one word.
std::string key_before_equals(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    const core::Words words = core::split_words(line.substr(0, equals));
    return words.size() == 1 ? words.front() : std::string{};
}

std::string_view without_comment(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i)
        if (line[i] == '#' && (i == 0 || core::is_blank(line[i - 1]))) return line.substr(0, i);
    return line;
}

/// What a later one takes the place of: a key, or for pairs the name within it; empty: nothing.
std::string replaced_by(const core::KeyTable& table, const std::string& key,
                        std::string_view value) {
    const core::Key* known = table.find(key);
    if (known == nullptr || known->repeatable) return {};
    if (known->shape != core::Shape::pairs) return key;
    return key + " " + std::string(core::trimmed(value.substr(0, value.find('='))));
}

/// Values in quotation marks, which AMReX takes away.
std::string unquoted(std::string value) {
    const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

class Lines {
public:
    Lines(const core::KeyTable& table, std::string origin)
        : x_table(table), x_origin(std::move(origin)) {}

    void take(std::string_view given) {
        x_lines.emplace_back();
        if (!given.empty() && given.back() == '\r') given.remove_suffix(1);
        const std::string line(core::trimmed(without_comment(given)));
        if (line.empty()) return;
        const core::Words words = core::split_words(line);
        if (const std::string key = key_before_equals(line); !key.empty()) {
            const std::string value(
                core::trimmed(std::string_view(line).substr(line.find('=') + 1)));
            keep(key, unquoted(value));
            x_goes_on = true;
        } else if (core::is_done(line) || x_table.find(words.front()) != nullptr) {
            keep(words.front(), std::string(core::trimmed(line.substr(words.front().size()))));
            x_goes_on = false;
        } else if (x_goes_on) {
            x_lines[x_last] += " " + line;
        } else {
            throw core::Error(core::Code::bad_input, core::in_quotes(line) + " sets nothing",
                              x_origin + ":" + std::to_string(x_lines.size()),
                              "write `key = value`; --help lists the keys");
        }
    }

    [[nodiscard]] std::string text() const {
        std::string text;
        for (const std::string& line : x_lines) text += line + "\n";
        return text;
    }

private:
    void keep(const std::string& key, const std::string& value) {
        x_last = x_lines.size() - 1;
        x_lines.back() = value.empty() ? key : key + " " + value;
        const std::string replaces = replaced_by(x_table, key, value);
        if (replaces.empty()) return;
        const auto [before, fresh] = x_places.emplace(replaces, x_last);
        if (fresh) return;
        x_lines[before->second].clear();
        before->second = x_last;
    }

    const core::KeyTable& x_table;
    std::string x_origin;
    std::vector<std::string> x_lines;
    std::map<std::string, std::size_t> x_places;
    std::size_t x_last = 0;
    bool x_goes_on = false;  ///< a line that sets nothing belongs to the one before
};

}  // namespace

std::string lines_of(const core::KeyTable& table, const std::string& text,
                     const std::string& origin) {
    Lines lines(table, origin);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.take(std::string_view(text).substr(at, end - at));
        at = end + 1;
    }
    return lines.text();
}

std::vector<std::string> last_of_each(const core::KeyTable& table,
                                      const std::vector<std::string>& arguments) {
    std::map<std::string, std::size_t> last;
    const auto replaced = [&](const std::string& argument) {
        const std::string key = argument.substr(0, argument.find('='));
        return replaced_by(
            table, key,
            std::string_view(argument).substr(std::min(key.size() + 1, argument.size())));
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) last[replaced(arguments[i])] = i;
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string key = replaced(arguments[i]);
        if (key.empty() || last[key] == i) kept.push_back(arguments[i]);
    }
    return kept;
}

}  // namespace tailrace::kernels::amr
