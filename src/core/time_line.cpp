// SPDX-License-Identifier: Apache-2.0
#include "core/time_line.hpp"

#include <algorithm>

namespace tailrace::core {

namespace {

using Place = std::vector<Stretch>::iterator;

/// One stretch for each phase between `first` and `last`, in the order in which they began.
std::vector<Stretch> sums(Place first, Place last) {
    std::vector<Stretch> found;
    double at_s = first->start_s;
    for (Place one = first; one != last; ++one) {
        const auto same = std::find_if(found.begin(), found.end(), [&](const Stretch& other) {
            return other.phase == one->phase;
        });
        if (same == found.end()) {
            found.push_back(*one);
            continue;
        }
        same->end_s += one->end_s - one->start_s;
        same->joined += one->joined;
    }
    for (Stretch& one : found) {
        const double length_s = one.end_s - one.start_s;
        one.start_s = at_s;
        one.end_s = at_s += length_s;
    }
    return found;
}

}  // namespace

void TimeLine::begin(double origin_s) {
    x_origin_s = origin_s;
    x_stretches.reserve(most_kept);
    x_begun = true;
}

void TimeLine::turn(std::string_view phase, double now) {
    if (!x_begun) return;
    const double now_s = now - x_origin_s;
    if (x_inside && now_s > x_since_s) {
        if (x_stretches.size() >= most_kept) coarsen(most_kept / 2);
        x_stretches.push_back({x_phase, x_since_s, now_s, 1});
    }
    x_inside = !phase.empty();
    if (x_inside) x_phase = place_of(phase);
    x_since_s = now_s;
}

std::uint32_t TimeLine::place_of(std::string_view phase) {
    const auto found = std::find(x_names.begin(), x_names.end(), phase);
    if (found != x_names.end()) return static_cast<std::uint32_t>(found - x_names.begin());
    x_names.emplace_back(phase);
    return static_cast<std::uint32_t>(x_names.size() - 1);
}

void TimeLine::coarsen(std::size_t most) {
    if (x_stretches.size() <= most) return;
    const double whole_s = x_stretches.back().end_s - x_stretches.front().start_s;
    double width_s = x_width_s > 0 ? x_width_s : whole_s / static_cast<double>(most_kept);
    while (x_stretches.size() > most) {
        join_within(width_s);
        // A second joining of the same width finds the same groups: it moves only what is new.
        if (width_s > x_width_s) x_resolution_s += width_s;
        x_width_s = width_s;
        if (width_s > whole_s) return;  // then they are one for each phase
        width_s *= 2;
    }
}

/// Joins those that lie within `width_s` of each other; a longer one stays as it is.
void TimeLine::join_within(double width_s) {
    Place kept = x_stretches.begin();
    for (Place first = x_stretches.begin(); first != x_stretches.end();) {
        const Place last = std::find_if(first + 1, x_stretches.end(), [&](const Stretch& one) {
            return one.end_s - first->start_s > width_s;
        });
        const std::vector<Stretch> joined = sums(first, last);
        if (joined.size() < static_cast<std::size_t>(last - first))
            kept = std::copy(joined.begin(), joined.end(), kept);
        else
            for (Place one = first; one != last; ++one) *kept++ = *one;
        first = last;
    }
    x_stretches.erase(kept, x_stretches.end());
}

}  // namespace tailrace::core
