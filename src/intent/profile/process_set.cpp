// SPDX-License-Identifier: Apache-2.0
#include "intent/profile/process_set.hpp"

#include <algorithm>
#include <limits>

#include "core/config.hpp"
#include "core/error.hpp"

namespace tailrace::intent {

namespace {

core::Error bad(std::string_view text, const std::string& why) {
    return {core::Code::bad_input,
            core::in_quotes(text) + " " + why,
            {},
            "ids of processes are written as \"0-39,41\", ascending"};
}

std::uint64_t id_of(std::string_view word, std::string_view text) {
    std::string why;
    const auto id = core::parse_number(word, why);
    if (!id) throw bad(text, "is no list of processes: a part of it " + why);
    return *id;
}

}  // namespace

void ProcessSet::add(std::uint64_t first, std::uint64_t last) {
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
    auto from = x_ranges.begin();
    while (from != x_ranges.end() && from->last < first && first - from->last > 1) ++from;
    auto to = from;
    while (to != x_ranges.end() && (last == greatest || to->first <= last + 1)) {
        first = std::min(first, to->first);
        last = std::max(last, to->last);
        ++to;
    }
    from = x_ranges.erase(from, to);
    x_ranges.insert(from, Range{first, last});
}

void ProcessSet::add(const ProcessSet& other) {
    for (const Range& range : other.x_ranges) add(range.first, range.last);
}

std::uint64_t ProcessSet::size() const noexcept {
    std::uint64_t count = 0;
    for (const Range& range : x_ranges) count += range.last - range.first + 1;
    return count;
}

bool ProcessSet::contains(std::uint64_t id) const noexcept {
    return std::any_of(x_ranges.begin(), x_ranges.end(),
                       [&](const Range& range) { return range.first <= id && id <= range.last; });
}

bool ProcessSet::meets(const ProcessSet& other) const noexcept {
    return std::any_of(x_ranges.begin(), x_ranges.end(), [&](const Range& mine) {
        return std::any_of(other.x_ranges.begin(), other.x_ranges.end(), [&](const Range& theirs) {
            return mine.first <= theirs.last && theirs.first <= mine.last;
        });
    });
}

std::string ProcessSet::text() const {
    std::string text;
    for (const Range& range : x_ranges) {
        if (!text.empty()) text += ',';
        text += std::to_string(range.first);
        if (range.last != range.first) text += "-" + std::to_string(range.last);
    }
    return text;
}

ProcessSet ProcessSet::parse(std::string_view text) {
    ProcessSet set;
    if (text.empty()) return set;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string_view part = text.substr(at, end - at);
        at = end + 1;
        const auto dash = part.find('-');
        const std::uint64_t first = id_of(part.substr(0, dash), text);
        const std::uint64_t last =
            dash == std::string_view::npos ? first : id_of(part.substr(dash + 1), text);
        if (last < first || (!set.empty() && set.x_ranges.back().last >= first))
            throw bad(text, "is not ascending");
        set.add(first, last);
    }
    return set;
}

}  // namespace tailrace::intent
