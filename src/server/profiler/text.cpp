// SPDX-License-Identifier: Apache-2.0
// How a profile is written.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/json/fields.hpp"
#include "formats/file/text_file.hpp"
#include "server/profiler/report.hpp"

namespace tailrace::json {

namespace {

/// As the trace event format of Chrome names its keys.
struct TraceEvent {
    std::string name;
    std::uint64_t rank = 0, thread = 0;
    double start_us = 0, elapsed_us = 0;
};
struct LeftOut {
    std::uint64_t events = 0;
    double longest_us = 0;
};

}  // namespace

template <>
struct Fields<TraceEvent> {
    static void visit(auto& v, auto& s) {
        v("name", s.name, "Name of the region.");
        v("ph", std::string("X"), "An event with a duration.");
        v("pid", s.rank, "Rank.");
        v("tid", s.thread, "Thread of the rank.");
        v("ts", s.start_us, "Start, in microseconds from that of the first event.");
        v("dur", s.elapsed_us, "Duration in microseconds.");
    }
};

template <>
struct Fields<LeftOut> {
    static void visit(auto& v, auto& s) {
        v("events_left_out", s.events, "Short events that are not here.");
        v("longest_left_out_us", s.longest_us, "Duration of the longest of them.");
    }
};

template <>
struct Fields<server::RegionOfRanks> {
    static void visit(auto& v, auto& s) {
        v("path", s.path, "From the outermost region to this one.");
        v("ranks", s.ranks, "Ranks that were in it.");
        v("calls", s.calls, "How often, over all ranks.");
        v("inclusive_s", s.inclusive_s,
          "Mean over the ranks that have the outermost region, in seconds.");
        v("inclusive_percent", s.inclusive_percent, "Of the outermost region.");
        v("exclusive_s", s.exclusive_s, "The same without the regions within it.");
        v("exclusive_percent", s.exclusive_percent, "Of the outermost region.");
        v("max_exclusive_s", s.max_exclusive_s, "Greatest of the ranks that were in it.");
        v("min_exclusive_s", s.min_exclusive_s, "Least of them.");
        v("max_rank", s.max_rank, "Rank with the greatest.");
        v("min_rank", s.min_rank, "Rank with the least.");
    }
};

template <>
struct Fields<server::ProfileOfRanks> {
    static void visit(auto& v, auto& s) {
        v("ranks", s.ranks, "Ranks.");
        v("regions", s.regions, "Each before those within it.");
    }
};

}  // namespace tailrace::json

namespace tailrace::server {

namespace {

using Row = std::array<std::string, 9>;
/// The least widths, of the tables that users know.
constexpr std::array<std::size_t, 9> least_widths{20, 9, 6, 9, 6, 9, 9, 6, 6};

std::string number(const char* form, double value) {
    std::array<char, 400> text{};  // the longest double
    return {text.data(), static_cast<std::size_t>(
                             std::max(0, std::snprintf(text.data(), text.size(), form, value)))};
}

/// "0016 ": in the middle of its column.
std::string rank_text(std::uint64_t rank) {
    const std::string text = std::to_string(rank);
    return std::string(4 - std::min<std::size_t>(4, text.size()), '0') + text + ' ';
}

Row row_of(const RegionOfRanks& one) {
    std::string name;
    for (std::size_t i = 1; i < one.path.size(); ++i) name += "--";
    return {name + one.path.back(),
            number("%.6f", one.inclusive_s),
            number("%.2f", one.inclusive_percent),
            number("%.6f", one.exclusive_s),
            number("%.2f", one.exclusive_percent),
            number("%.6f", one.max_exclusive_s),
            number("%.6f", one.min_exclusive_s),
            rank_text(one.max_rank),
            rank_text(one.min_rank)};
}

json::Json event_json(const ProfileOfRanks& profile, std::uint64_t rank, const RegionEvent& event,
                      double origin_s) {
    return json::written(json::TraceEvent{profile.regions[event.region].path.back(), rank,
                                          event.thread, 1e6 * (event.start_s - origin_s),
                                          1e6 * event.elapsed_s});
}

std::string one_line(const json::Json& json) {
    return json.dump(-1, ' ', false, json::Json::error_handler_t::replace);
}

}  // namespace

std::string table(const ProfileOfRanks& profile, std::string_view title) {
    std::vector<Row> rows{{"Name", "Inclusive", "% Incl", "Exclusive", "% Excl", "Max Excl",
                           "Min Excl", "Max PE", "Min PE"}};
    for (const RegionOfRanks& one : profile.regions) rows.push_back(row_of(one));
    auto widths = least_widths;
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text = std::string(title) + '\n' + std::string(title.size(), '=') + '\n';
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string blanks(widths[i] - row[i].size(), ' ');
            const bool left = i == 0 || &row == rows.data();
            line += (i == 0 ? "" : " ") + (left ? row[i] + blanks : blanks + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string json_text(const ProfileOfRanks& profile) {
    return json::text_of(json::document_of(profile_schema, profile));
}

std::string trace_text(const ProfileOfRanks& profile) {
    double origin_s = std::numeric_limits<double>::infinity();
    json::LeftOut left_out;
    for (const RankEvents& of_rank : profile.events) {
        for (const RegionEvent& event : of_rank.events.kept)
            origin_s = std::min(origin_s, event.start_s - of_rank.met_s);
        left_out.events += of_rank.events.left_out;
        left_out.longest_us =
            std::max(left_out.longest_us, 1e6 * of_rank.events.longest_left_out_s);
    }
    std::string text =
        "{\"displayTimeUnit\": \"ms\", \"otherData\": " + one_line(json::written(left_out)) +
        ",\n\"traceEvents\": [";
    const char* before = "\n";
    for (std::uint64_t rank = 0; rank < profile.events.size(); ++rank)
        for (const RegionEvent& event : profile.events[rank].events.kept)
            text +=
                std::exchange(before, ",\n") +
                one_line(event_json(profile, rank, event, origin_s + profile.events[rank].met_s));
    return text + "\n]}\n";
}

void write_files(const comm::Comm& comm, const std::optional<ProfileOfRanks>& profile,
                 const std::filesystem::path& base) {
    comm.agree_on([&] {
        if (!profile) return;
        formats::TextFile(formats::with_suffix(base, ".txt"))
            .publish(table(*profile, base.string()));
        formats::TextFile(formats::with_suffix(base, ".json")).publish(json_text(*profile));
        formats::TextFile(formats::with_suffix(base, ".trace.json")).publish(trace_text(*profile));
    });
}

}  // namespace tailrace::server
