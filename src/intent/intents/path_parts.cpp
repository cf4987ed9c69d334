// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/path_parts.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word(char c) { return is_digit(c) || is_letter(c); }

/// Length of the run of `count` digits at `at`, or 0 where there are fewer.
std::size_t digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return 0;
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + count), is_digit)
               ? count
               : 0;
}

int value(std::string_view text, std::size_t at, std::size_t count) {
    int number = 0;
    for (std::size_t i = at; i < at + count; ++i) number = 10 * number + (text[i] - '0');
    return number;
}

bool is_day(std::string_view text, std::size_t year, std::size_t month, std::size_t day) {
    const int y = value(text, year, 4), m = value(text, month, 2), d = value(text, day, 2);
    return y >= 1900 && y < 2200 && m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

/// Length of a time of day at `at`, with what parts it from the day; 0 where there is none.
std::size_t time_length(std::string_view text, std::size_t at) {
    std::size_t end = at;
    if (end < text.size() && (text[end] == 'T' || text[end] == '_' || text[end] == '-')) ++end;
    if (digits(text, end, 6) && value(text, end, 2) < 24 && value(text, end + 2, 2) < 60)
        end += 6;
    else if (digits(text, end, 2) && end + 5 <= text.size() &&
             (text[end + 2] == ':' || text[end + 2] == '-') && digits(text, end + 3, 2) &&
             value(text, end, 2) < 24 && value(text, end + 3, 2) < 60)
        end += end + 8 <= text.size() && text[end + 5] == text[end + 2] && digits(text, end + 6, 2)
                   ? 8
                   : 5;
    else
        return 0;
    return end < text.size() && is_digit(text[end]) ? 0 : end - at;
}

/// Length of a date at `at`; 0 where there is none.
std::size_t date_length(std::string_view text, std::size_t at) {
    std::size_t length = 0;
    if (digits(text, at, 8) && is_day(text, at, at + 4, at + 6)) {
        length = 8;
    } else if (at + 10 <= text.size() && digits(text, at, 4) &&
               (text[at + 4] == '-' || text[at + 4] == '_') && text[at + 7] == text[at + 4] &&
               digits(text, at + 5, 2) && digits(text, at + 8, 2) &&
               is_day(text, at, at + 5, at + 8)) {
        length = 10;
    }
    if (length == 0) return 0;
    length += time_length(text, at + length);
    return at + length < text.size() && is_digit(text[at + length]) ? 0 : length;
}

/// Length of a hexadecimal identifier at `at`, which is the begin of a word; 0 for none.
std::size_t id_length(std::string_view text, std::size_t at) {
    static constexpr std::array<std::size_t, 5> uuid{8, 4, 4, 4, 12};
    std::size_t end = at, group = 0;
    for (; group < uuid.size(); ++group) {
        std::size_t count = 0;
        while (end + count < text.size() && is_hex(text[end + count])) ++count;
        if (count != uuid[group]) break;
        end += count;
        if (group + 1 < uuid.size()) {
            if (end >= text.size() || text[end] != '-') break;
            ++end;
        }
    }
    if (group == uuid.size() && (end == text.size() || !is_word(text[end]))) return end - at;
    std::size_t length = 0, numbers = 0, letters = 0;
    while (at + length < text.size() && is_word(text[at + length])) {
        const char c = text[at + length++];
        if (!is_hex(c)) return 0;
        (is_digit(c) ? numbers : letters) += 1;
    }
    return length >= 8 && numbers >= 2 && letters >= 2 ? length : 0;
}

/// Whether the digits at `at` belong to a word: an extension such as ".h5", "3d", "f64", "x86".
bool part_of_a_word(std::string_view text, std::size_t at, std::size_t count) {
    std::size_t begin = at, end = at + count;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    while (end < text.size() && is_letter(text[end])) ++end;
    const bool before = begin<at, after = end> at + count;
    if (before && begin > 0 && text[begin - 1] == '.' && count <= 2 &&
        (end == text.size() || text[end] == '.' || text[end] == ':'))
        return true;
    if (!before && after && count == 1 && end == at + 2 &&
        (text[at + 1] == 'd' || text[at + 1] == 'D'))
        return begin == 0 || !is_digit(text[begin - 1]);
    const std::string_view word = text.substr(begin, end - begin);
    static constexpr std::array<std::string_view, 9> words{"f32", "f64", "i32",  "i64", "u8",
                                                           "x86", "h5",  "hdf5", "nc4"};
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<PathPart> parts_of(std::string_view path) {
    std::vector<PathPart> parts;
    const auto add = [&](PartKind kind, std::string_view text) {
        if (kind == PartKind::letters && !parts.empty() && parts.back().kind == kind)
            parts.back().text += text;
        else
            parts.push_back({kind, std::string(text)});
    };
    for (std::size_t at = 0; at < path.size();) {
        const bool word_begins = at == 0 || !is_word(path[at - 1]);
        const bool number_begins = is_digit(path[at]);
        if (const std::size_t length = number_begins ? date_length(path, at) : 0) {
            add(PartKind::date, path.substr(at, length));
            at += length;
        } else if (const std::size_t id =
                       word_begins && is_hex(path[at]) ? id_length(path, at) : 0) {
            add(PartKind::id, path.substr(at, id));
            at += id;
        } else if (number_begins) {
            std::size_t count = 1;
            while (at + count < path.size() && is_digit(path[at + count])) ++count;
            add(part_of_a_word(path, at, count) ? PartKind::letters : PartKind::number,
                path.substr(at, count));
            at += count;
        } else {
            add(PartKind::letters, path.substr(at, 1));
            ++at;
        }
    }
    return parts;
}

}  // namespace tailrace::intent
