// SPDX-License-Identifier: Apache-2.0
// Names of files with dates in them, and the calendars of models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tailrace::server {

/// standard: Julian before 15 October 1582, which followed the 4th, Gregorian from then on. noleap:
/// every year has 365 days. day_360: every month has 30.
enum class Calendar : std::uint64_t { standard, noleap, day_360 };
[[nodiscard]] constexpr Calendar last_of(Calendar) { return Calendar::day_360; }  ///< [local]
/// Of the names that CF gives: "standard" or "gregorian", "noleap" or "365_day", "360_day". [local]
/// @throws core::Error{Code::bad_input} with "did you mean"
[[nodiscard]] Calendar calendar_of(std::string_view name);

struct Date {
    std::int64_t year = 1;
    int month = 1, day = 1, hour = 0, minute = 0, second = 0;
    friend bool operator==(const Date&, const Date&) = default;
};
/// "2000-02-29 12:00:00".  [local]
[[nodiscard]] std::string text(const Date& date);
/// @throws core::Error{Code::bad_input} if the calendar does not have it  [local]
void check_date(const Date& date, Calendar calendar);
/// The date so many seconds later, or earlier.  [local]
/// @throws core::Error{Code::bad_input} if the calendar does not have `date`, or the year is not
/// within 0 to 999999
[[nodiscard]] Date later(const Date& date, std::int64_t seconds, Calendar calendar);
/// 1 on the first of January.  [local]
[[nodiscard]] int day_of_year(const Date& date, Calendar calendar);

/// Puts the date into a template: %Y (4 digits or more) %m %d %H %M %S %j (day of year, 3 digits)
/// and %% for a percent sign, as strftime has them.  [local]
/// @throws core::Error{Code::bad_input} naming the template, for what it does not know
[[nodiscard]] std::string file_name(const std::string& pattern, const Date& date,
                                    Calendar calendar);
/// Whether names that differ in their date differ: false for a template without one.  [local]
/// @throws core::Error as file_name()
[[nodiscard]] bool has_date(const std::string& pattern);

}  // namespace tailrace::server
