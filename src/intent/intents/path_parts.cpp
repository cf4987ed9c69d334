// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/path_parts.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
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

bool is_month(std::string_view text, std::size_t year, std::size_t month) {
    const int y = value(text, year, 4), m = value(text, month, 2);
    return y >= 1800 && y < 2200 && m >= 1 && m <= 12;
}

bool is_day(std::string_view text, std::size_t year, std::size_t month, std::size_t day) {
    const int d = value(text, day, 2);
    return is_month(text, year, month) && d >= 1 && d <= 31;
}

bool goes_on(std::string_view text, std::size_t at) {
    return at < text.size() && is_digit(text[at]);
}

bool is_time(std::string_view text, std::size_t hour, std::size_t minute) {
    return digits(text, hour, 2) && digits(text, minute, 2) && value(text, hour, 2) < 24 &&
           value(text, minute, 2) < 60;
}

/// Length of a time with signs in it, 12:30 or 12-30-00, at `at`; 0 where there is none.
std::size_t clock_length(std::string_view text, std::size_t at) {
    if (!is_time(text, at, at + 3) || (text[at + 2] != ':' && text[at + 2] != '-')) return 0;
    const bool seconds =
        at + 8 <= text.size() && text[at + 5] == text[at + 2] && digits(text, at + 6, 2);
    const std::size_t length = seconds ? 8 : 5;
    return goes_on(text, at + length) ? 0 : length;
}

/// Length of an hour, or of hour and minute, at `at`; 0 where there is none.
std::size_t hour_length(std::string_view text, std::size_t at) {
    if (is_time(text, at, at + 2)) return goes_on(text, at + 4) ? 0 : 4;
    const bool hour = digits(text, at, 2) && value(text, at, 2) < 24;
    return hour && !goes_on(text, at + 2) ? 2 : 0;
}

/// Length of a time of day at `at`, with what parts it from the day; 0 where there is none.
std::size_t time_length(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    if (at < text.size() && (text[at] == 'T' || text[at] == '_' || text[at] == '-')) ++begin;
    const bool plain =
        digits(text, begin, 6) && is_time(text, begin, begin + 2) && !goes_on(text, begin + 6);
    std::size_t length = plain ? 6 : clock_length(text, begin);
    // Behind another sign so few digits may be any number.
    if (length == 0 && (begin == at || text[at] == 'T')) length = hour_length(text, begin);
    return length == 0 ? 0 : begin - at + length;
}

/// Length of a year with its month, 2024-03, where they begin a word; 0 where there are none.
std::size_t month_length(std::string_view text, std::size_t at) {
    if (at == 0 || std::string_view("_.-/").find(text[at - 1]) == std::string_view::npos) return 0;
    if (!digits(text, at, 4) || at + 7 > text.size() || text[at + 4] != '-') return 0;
    if (!digits(text, at + 5, 2) || !is_month(text, at, at + 5)) return 0;
    return goes_on(text, at + 7) ? 0 : 7;
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
    if (length == 0) return month_length(text, at);
    length += time_length(text, at + length);
    return goes_on(text, at + length) ? 0 : length;
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
