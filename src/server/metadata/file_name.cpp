// SPDX-License-Identifier: Apache-2.0
#include "server/metadata/file_name.hpp"

#include <array>
#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

constexpr std::int64_t day_seconds = 86400, last_year = 999'999;
constexpr std::int64_t first_gregorian_day = 2'299'161;  // Julian day number of 1582-10-15
constexpr std::array<std::pair<std::string_view, Calendar>, 5> names{
    {{"standard", Calendar::standard},
     {"gregorian", Calendar::standard},
     {"noleap", Calendar::noleap},
     {"365_day", Calendar::noleap},
     {"360_day", Calendar::day_360}}};

bool is_gregorian(const Date& date) {
    return std::pair(date.year, date.month * 100 + date.day) >= std::pair(std::int64_t{1582}, 1015);
}

/// Days of a month; October 1582 has its gap besides.
int days_of(std::int64_t year, int month, Calendar calendar) {
    static constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (calendar == Calendar::day_360) return 30;
    const bool gregorian = year > 1582;
    const bool leap = calendar == Calendar::standard && year % 4 == 0 &&
                      (!gregorian || year % 100 != 0 || year % 400 == 0);
    return days[static_cast<std::size_t>(month - 1)] + (leap && month == 2 ? 1 : 0);
}

/// Days since a day that each calendar has of its own; for the standard one its Julian day number
/// (Fliegel and Van Flandern, with a year that begins in March).
std::int64_t day_number(const Date& date, Calendar calendar) {
    if (calendar == Calendar::day_360)
        return date.year * 360 + std::int64_t{30} * (date.month - 1) + date.day - 1;
    if (calendar == Calendar::noleap) {
        std::int64_t days = date.year * 365 + date.day - 1;
        for (int month = 1; month < date.month; ++month) days += days_of(1, month, calendar);
        return days;
    }
    const std::int64_t back = date.month < 3 ? 1 : 0;
    const std::int64_t year = date.year + 4800 - back, month = date.month + 12 * back - 3;
    const std::int64_t days = date.day + (153 * month + 2) / 5 + 365 * year + year / 4;
    return is_gregorian(date) ? days - year / 100 + year / 400 - 32045 : days - 32083;
}

/// The inverse of day_number().
Date date_of(std::int64_t number, Calendar calendar) {
    Date date;
    if (calendar == Calendar::day_360) {
        date.year = number / 360;
        date.month = static_cast<int>(number % 360 / 30) + 1;
        date.day = static_cast<int>(number % 30) + 1;
    } else if (calendar == Calendar::noleap) {
        date.year = number / 365;
        std::int64_t rest = number % 365;
        for (; rest >= days_of(1, date.month, calendar); ++date.month)
            rest -= days_of(1, date.month, calendar);
        date.day = static_cast<int>(rest) + 1;
    } else {
        std::int64_t days = number + 32082, centuries = 0;  // since 1 March -4800
        if (number >= first_gregorian_day) {
            const std::int64_t since = number + 32044;
            centuries = (4 * since + 3) / 146097;
            days = since - 146097 * centuries / 4;
        }
        const std::int64_t year = (4 * days + 3) / 1461, rest = days - 1461 * year / 4;
        const std::int64_t month = (5 * rest + 2) / 153;
        date.day = static_cast<int>(rest - (153 * month + 2) / 5) + 1;
        date.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
        date.year = 100 * centuries + year - 4800 + (month < 10 ? 0 : 1);
    }
    return date;
}

std::string padded(std::int64_t number, int width) {
    std::ostringstream text;
    text << std::setw(width) << std::setfill('0') << number;
    return text.str();
}

/// The parts of a template: what is copied, and the letter behind a percent sign.
std::vector<std::pair<std::string, char>> parts_of(const std::string& pattern) {
    std::vector<std::pair<std::string, char>> parts(1);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            parts.back().first += pattern[i];
            continue;
        }
        const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
        if (letter == '%') {
            parts.back().first += letter;
            continue;
        }
        if (std::string_view("YmdHMSj").find(letter) == std::string_view::npos || letter == '\0') {
            const std::string seen = letter == '\0' ? "%" : std::string("%") + letter;
            throw Error(Code::bad_input, core::in_quotes(seen) + " says no part of a date",
                        "file name " + core::in_quotes(pattern),
                        "use %Y %m %d %H %M %S or %j, and %% for a percent sign");
        }
        parts.back().second = letter;
        parts.emplace_back();
    }
    return parts;
}

}  // namespace

Calendar calendar_of(std::string_view wanted) {
    std::vector<std::string> all;
    for (const auto& [name, calendar] : names) {
        if (name == wanted) return calendar;
        all.emplace_back(name);
    }
    const std::string guess = core::nearest(wanted, all);
    throw Error(Code::bad_input,
                core::in_quotes(wanted) + " is no calendar" +
                    (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?"),
                "", "one of standard, noleap, 360_day");
}

std::string text(const Date& date) {
    return padded(date.year, 4) + '-' + padded(date.month, 2) + '-' + padded(date.day, 2) + ' ' +
           padded(date.hour, 2) + ':' + padded(date.minute, 2) + ':' + padded(date.second, 2);
}

void check_date(const Date& date, Calendar calendar) {
    const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
        return value >= low && value <= high;
    };
    const bool in_gap = calendar == Calendar::standard && date.year == 1582 && date.month == 10 &&
                        within(date.day, 5, 14);
    if (within(date.year, 0, last_year) && within(date.month, 1, 12) && !in_gap &&
        within(date.day, 1, days_of(date.year, date.month, calendar)) && within(date.hour, 0, 23) &&
        within(date.minute, 0, 59) && within(date.second, 0, 59))
        return;
    std::string which;
    for (const auto& [name, one] : names)
        if (one == calendar && which.empty()) which = name;
    throw Error(Code::bad_input, text(date) + " is no date of the calendar " + which, "",
                "look at the calendar, or at the year, which is 0 to " + std::to_string(last_year));
}

Date later(const Date& date, std::int64_t seconds, Calendar calendar) {
    check_date(date, calendar);
    std::int64_t days = day_number(date, calendar) + seconds / day_seconds;
    std::int64_t rest = date.hour * 3600 + date.minute * 60 + date.second + seconds % day_seconds;
    days += rest < 0 ? -1 : rest / day_seconds;
    rest = (rest + day_seconds) % day_seconds;
    if (days < day_number({.year = 0}, calendar) || days / 360 > 2 * last_year)
        throw Error(Code::bad_input,
                    text(date) + " and " + std::to_string(seconds) + " seconds leave the calendar",
                    "", "stay within the years 0 to " + std::to_string(last_year));
    Date result = date_of(days, calendar);
    result.hour = static_cast<int>(rest / 3600);
    result.minute = static_cast<int>(rest / 60 % 60);
    result.second = static_cast<int>(rest % 60);
    check_date(result, calendar);
    return result;
}

int day_of_year(const Date& date, Calendar calendar) {
    check_date(date, calendar);
    return static_cast<int>(day_number(date, calendar) -
                            day_number({.year = date.year}, calendar)) +
           1;
}

std::string file_name(const std::string& pattern, const Date& date, Calendar calendar) {
    check_date(date, calendar);
    std::string name;
    for (const auto& [copied, letter] : parts_of(pattern)) {
        name += copied;
        switch (letter) {
            case 'Y':
                name += padded(date.year, 4);
                break;
            case 'm':
                name += padded(date.month, 2);
                break;
            case 'd':
                name += padded(date.day, 2);
                break;
            case 'H':
                name += padded(date.hour, 2);
                break;
            case 'M':
                name += padded(date.minute, 2);
                break;
            case 'S':
                name += padded(date.second, 2);
                break;
            case 'j':
                name += padded(day_of_year(date, calendar), 3);
                break;
            default:
                break;
        }
    }
    return name;
}

bool has_date(const std::string& pattern) { return parts_of(pattern).size() > 1; }

}  // namespace tailrace::server
