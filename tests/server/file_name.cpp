// SPDX-License-Identifier: Apache-2.0
// Dates of three calendars, and names of files made of them.
#include "server/metadata/file_name.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "core/error.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.what();
    }
    FAIL("no error");
    return "";
}

struct Known {
    Date from;
    std::int64_t seconds;
    const char* to;
    int day_of_year;
};

void check_known(Calendar calendar, const std::vector<Known>& all) {
    for (const Known& one : all) {
        const Date to = later(one.from, one.seconds, calendar);
        CHECK(text(to) == one.to);
        CHECK(day_of_year(to, calendar) == one.day_of_year);
        CHECK(later(to, -one.seconds, calendar) == one.from);
    }
}

/// Day by day over 2200 years, each as the months and leap years of the calendar say.
void check_each_day(Calendar calendar, const std::function<int(std::int64_t, int)>& days) {
    Date date{.year = 0};
    int of_year = 1;
    while (date.year < 2200) {
        Date next = date;
        ++of_year;
        if (++next.day > days(date.year, date.month)) {
            next.day = 1;
            if (++next.month > 12) next = {.year = date.year + 1};
        }
        if (calendar == Calendar::standard && next == Date{1582, 10, 5}) next.day = 15;
        if (next.year != date.year) of_year = 1;
        const Date found = later(date, 86400, calendar);
        if (!(found == next) || day_of_year(next, calendar) != of_year) {
            FAIL_CHECK("after " << text(date) << " comes " << text(found));
            return;
        }
        date = next;
    }
}

}  // namespace

// Computed by cftime 1.6, but for the 278: cftime counts the days that 1582 left out.
TEST_CASE("dates: so many seconds later, in each calendar") {
    check_known(Calendar::standard, {{{1582, 10, 4, 23, 59, 59}, 1, "1582-10-15 00:00:00", 278},
                                     {{2000, 2, 28, 12, 0, 0}, 172800, "2000-03-01 12:00:00", 61},
                                     {{1900, 2, 28, 0, 0, 0}, 86400, "1900-03-01 00:00:00", 60},
                                     {{1, 1, 1, 0, 0, 0}, 62000000000, "1965-09-12 14:13:20", 255},
                                     {{2100, 3, 1, 0, 0, 0}, -86401, "2100-02-27 23:59:59", 58},
                                     {{1500, 2, 28, 0, 0, 0}, 86400, "1500-02-29 00:00:00", 60}});
    check_known(Calendar::noleap, {{{1582, 10, 4, 23, 59, 59}, 1, "1582-10-05 00:00:00", 278},
                                   {{2000, 2, 28, 12, 0, 0}, 172800, "2000-03-02 12:00:00", 61},
                                   {{1900, 2, 28, 0, 0, 0}, 86400, "1900-03-01 00:00:00", 60},
                                   {{1, 1, 1, 0, 0, 0}, 62000000000, "1967-01-03 14:13:20", 3},
                                   {{2100, 3, 1, 0, 0, 0}, -86401, "2100-02-27 23:59:59", 58},
                                   {{1500, 2, 28, 0, 0, 0}, 86400, "1500-03-01 00:00:00", 60}});
    check_known(Calendar::day_360, {{{1582, 10, 4, 23, 59, 59}, 1, "1582-10-05 00:00:00", 275},
                                    {{2000, 2, 28, 12, 0, 0}, 172800, "2000-02-30 12:00:00", 60},
                                    {{1900, 2, 28, 0, 0, 0}, 86400, "1900-02-29 00:00:00", 59},
                                    {{1, 1, 1, 0, 0, 0}, 62000000000, "1994-04-23 14:13:20", 113},
                                    {{2100, 3, 1, 0, 0, 0}, -86401, "2100-02-29 23:59:59", 59},
                                    {{1500, 2, 28, 0, 0, 0}, 86400, "1500-02-29 00:00:00", 59}});
}

TEST_CASE("dates: day by day through 2200 years") {
    constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    check_each_day(Calendar::day_360, [](std::int64_t, int) { return 30; });
    check_each_day(Calendar::noleap, [&](std::int64_t, int month) { return days[month - 1]; });
    check_each_day(Calendar::standard, [&](std::int64_t year, int month) {
        const bool leap =
            year > 1582 ? (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 : year % 4 == 0;
        return days[month - 1] + (leap && month == 2 ? 1 : 0);
    });
}

TEST_CASE("dates: what a calendar does not have is refused by its name") {
    for (const Date& date : {Date{2001, 2, 29}, Date{1900, 2, 29}, Date{1582, 10, 10},
                             Date{1, 0, 1}, Date{1, 13, 1}, Date{1, 1, 0}, Date{-1, 1, 1},
                             Date{1, 1, 1, 24}, Date{1, 1, 1, 0, 60}, Date{1, 1, 1, 0, 0, 60}})
        CHECK(error_of([&] {
                  check_date(date, Calendar::standard);
              }).find(" is no date of the calendar standard") != std::string::npos);
    CHECK(error_of([] { check_date({2000, 2, 29}, Calendar::noleap); }).find("2000-02-29") == 0);
    CHECK(error_of([] {
              check_date({2000, 1, 31}, Calendar::day_360);
          }).find("360_day") != std::string::npos);
    check_date({2000, 2, 30}, Calendar::day_360);
    for (const std::int64_t seconds : {-std::int64_t{1}, std::int64_t{1} << 62})
        CHECK(error_of([&] {
                  static_cast<void>(later({0, 1, 1}, seconds, Calendar::noleap));
              }).find("leave the calendar") != std::string::npos);
}

TEST_CASE("calendars: known by the names of CF") {
    CHECK(calendar_of("standard") == Calendar::standard);
    CHECK(calendar_of("gregorian") == Calendar::standard);
    CHECK(calendar_of("noleap") == Calendar::noleap);
    CHECK(calendar_of("365_day") == Calendar::noleap);
    CHECK(calendar_of("360_day") == Calendar::day_360);
    CHECK(error_of([] { static_cast<void>(calendar_of("no_leap")); }) ==
          "\"no_leap\" is no calendar. Did you mean \"noleap\"?\n"
          "       hint: one of standard, noleap, 360_day");
}

TEST_CASE("file names: each part of a date, with zeros in front") {
    const Date date{2000, 3, 1, 9, 30, 5};
    CHECK(file_name("h.%Y%m%d_%H%Mz.nc4", date, Calendar::standard) == "h.20000301_0930z.nc4");
    CHECK(file_name("%S-%j-%%Y", date, Calendar::standard) == "05-061-%Y");
    CHECK(file_name("%j", date, Calendar::noleap) == "060");
    CHECK(file_name("%j", date, Calendar::day_360) == "061");
    CHECK(file_name("%Y", {.year = 7}, Calendar::noleap) == "0007");
    CHECK(file_name("%Y", {.year = 12345}, Calendar::noleap) == "12345");
    CHECK(file_name("restart.nc", date, Calendar::standard) == "restart.nc");
    CHECK(has_date("a%Y"));
    CHECK(!has_date("a%%Y"));
}

TEST_CASE("file names: an unknown part is refused with those that there are") {
    CHECK(error_of([] { static_cast<void>(file_name("a.%y4.nc", {}, Calendar::standard)); }) ==
          "file name \"a.%y4.nc\": \"%y\" says no part of a date\n"
          "       hint: use %Y %m %d %H %M %S or %j, and %% for a percent sign");
    CHECK(error_of([] { static_cast<void>(has_date("a%")); }).find("\"%\" says no part") !=
          std::string::npos);
    CHECK(error_of([] {
              static_cast<void>(file_name("%Y", {2001, 2, 29}, Calendar::standard));
          }).find("2001-02-29") == 0);
}
