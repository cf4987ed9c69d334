// SPDX-License-Identifier: Apache-2.0
// Strict conversion of texts to values.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/config_values.hpp"

namespace tailrace::core {

namespace {

constexpr std::size_t longest_quote = 80;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return result;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i ? std::string(between) : "") + parts[i];
    return text;
}

Words split_words(std::string_view text) {
    Words words;
    std::size_t at = 0;
    while (at < text.size()) {
        while (at < text.size() && is_blank(text[at])) ++at;
        std::size_t end = at;
        while (end < text.size() && !is_blank(text[end])) ++end;
        if (end > at) words.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

std::string in_quotes(std::string_view value) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text = "\"";
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (i == longest_quote) return text + "...\"";
        const auto byte = static_cast<unsigned char>(value[i]);
        if (byte < 0x20 || byte == 0x7f) {
            text += "\\x";
            text += digits[byte >> 4];
            text += digits[byte & 15];
        } else {
            text += value[i];
        }
    }
    return text + "\"";
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::string& why) {
    const bool negative = text.size() > 1 && text[0] == '-';
    const std::string_view digits = negative ? text.substr(1) : text;
    bool whole = !digits.empty();
    for (char c : digits) whole = whole && is_digit(c);
    if (!whole) {
        why = "is not a whole number";
        return std::nullopt;
    }
    if (negative) {
        why = "is negative";
        return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc{}) {
        why = "does not fit 64 bits";
        return std::nullopt;
    }
    return value;
}

std::optional<double> parse_real(std::string_view text, std::string& why) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    // from_chars also reads "inf" and "nan": neither is a decimal.
    if (text.empty() || result.ptr != end || !std::isfinite(value) ||
        result.ec == std::errc::invalid_argument) {
        why = "is not a number";
        return std::nullopt;
    }
    if (result.ec != std::errc{}) {
        why = "is out of range";
        return std::nullopt;
    }
    if (value < 0) {
        why = "is negative";
        return std::nullopt;
    }
    return value;
}

namespace {

/// What an input line of this key looks like, as the remedy of its errors.
std::string remedy_of(const Key& key) {
    std::string text = "write `" + KeyTable::usage(key) + "`";
    if (key.shape == Shape::flag) text += " alone, or with 0 or 1 behind it";
    if (!key.unit.empty()) text += ", in " + key.unit;
    return text;
}

}  // namespace

Error bad_value(const Key& key, const std::string& place, const std::string& message) {
    return {Code::bad_input, message, place, remedy_of(key)};
}

namespace {

void check_range(const Key& key, std::uint64_t value, const std::string& place) {
    if (value < key.min)
        throw bad_value(key, place,
                        key.name + " must be at least " + std::to_string(key.min) + ", not " +
                            in_quotes(std::to_string(value)));
    if (value > key.max)
        throw bad_value(key, place,
                        key.name + " must be at most " + std::to_string(key.max) + ", not " +
                            in_quotes(std::to_string(value)));
}

std::uint64_t number_of(const Key& key, std::string_view text, const std::string& place) {
    std::string why;
    const auto value = parse_number(text, why);
    if (!value) throw bad_value(key, place, in_quotes(text) + " of " + key.name + " " + why);
    check_range(key, *value, place);
    return *value;
}

bool flag_of(const Key& key, std::string_view text, const std::string& place) {
    const std::string word = lower(text);
    if (word.empty() || word == "1" || word == "true" || word == "on" || word == "yes") return true;
    if (word == "0" || word == "false" || word == "off" || word == "no") return false;
    throw bad_value(key, place, key.name + " is on or off, not " + in_quotes(text));
}

Value tuple_of(const Key& key, std::string_view text, const std::string& place) {
    Words words = split_words(text);
    if (words.size() == 1) {  // "2x2x2"; a hexadecimal 0x10 falls to the count or to a zero
        Words parts(1);
        for (char c : words.front()) {
            if (c == 'x' || c == 'X')
                parts.emplace_back();
            else
                parts.back().push_back(c);
        }
        if (parts.size() > 1) words = parts;
    }
    if (words.size() != key.tuple_size)
        throw bad_value(key, place,
                        key.name + " needs " + std::to_string(key.tuple_size) +
                            " numbers, but got " + std::to_string(words.size()) + " in " +
                            in_quotes(text));
    std::vector<std::uint64_t> numbers;
    for (const std::string& word : words) numbers.push_back(number_of(key, word, place));
    return numbers;
}

Value pair_of(const Key& key, std::string_view text, const std::string& place) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw bad_value(key, place, in_quotes(text) + " of " + key.name + " is not NAME=VALUE");
    const std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view value = trimmed(text.substr(equals + 1));
    if (name.empty() || value.empty() || split_words(name).size() != 1)
        throw bad_value(key, place, in_quotes(text) + " of " + key.name + " is not NAME=VALUE");
    return NamedValues{{std::string(name), std::string(value)}};
}

Value words_of(const Key& key, std::string_view text, const std::string& place) {
    Words words = split_words(text);
    if (words.size() < key.least_words || words.size() > key.most_words)
        throw bad_value(
            key, place,
            key.name + " got " + std::to_string(words.size()) + " words in " + in_quotes(text));
    if (key.repeatable) return std::vector<Words>{std::move(words)};
    return words;
}

}  // namespace

Value value_of(const Key& key, std::string_view text, const std::string& place) {
    if (text.empty() && key.shape != Shape::flag &&
        !(key.shape == Shape::words && key.least_words == 0))
        throw bad_value(key, place, key.name + " needs a value");
    std::string why;
    switch (key.shape) {
        case Shape::flag:
            return flag_of(key, text, place);
        case Shape::number:
            return number_of(key, text, place);
        case Shape::tuple:
            return tuple_of(key, text, place);
        case Shape::pairs:
            return pair_of(key, text, place);
        case Shape::words:
            return words_of(key, text, place);
        case Shape::text:
            return std::string(text);
        case Shape::real:
            if (const auto real = parse_real(text, why)) return *real;
            throw bad_value(key, place, in_quotes(text) + " of " + key.name + " " + why);
        case Shape::choice:
            break;
    }
    if (std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end()) {
        std::string message =
            key.name + " must be one of " + joined(key.choices, ", ") + ", not " + in_quotes(text);
        const std::string guess = nearest(text, key.choices);
        if (!guess.empty()) message += ". Did you mean " + in_quotes(guess) + "?";
        throw bad_value(key, place, message);
    }
    return std::string(text);
}

std::string canonical(const Value& value, std::string_view text) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
    if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&value)) {
        std::vector<std::string> parts;
        for (std::uint64_t number : *numbers) parts.push_back(std::to_string(number));
        return joined(parts, " ");
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    if (const auto* words = std::get_if<Words>(&value)) return joined(*words, " ");
    return std::string(text);
}

}  // namespace tailrace::core
