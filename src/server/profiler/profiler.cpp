// SPDX-License-Identifier: Apache-2.0
#include "server/profiler/profiler.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::server {

void RegionEvents::add(const RegionEvent& event, std::size_t most) {
    if (left_out > 0 && event.elapsed_s < longest_left_out_s) {
        ++left_out;
        return;
    }
    kept.push_back(event);
    if (kept.size() > most) thin(most / 2);
}

void RegionEvents::thin(std::size_t most) {
    if (kept.size() <= most) return;
    const auto first_out = kept.begin() + static_cast<std::ptrdiff_t>(most);
    // Of equally long ones the first that began stays: it may be the one around the others.
    std::nth_element(kept.begin(), first_out, kept.end(), [](const auto& a, const auto& b) {
        return std::pair(-a.elapsed_s, a.start_s) < std::pair(-b.elapsed_s, b.start_s);
    });
    longest_left_out_s = std::max(longest_left_out_s, first_out->elapsed_s);
    left_out += static_cast<std::uint64_t>(kept.end() - first_out);
    kept.erase(first_out, kept.end());
}

Profiler::Profiler(std::string_view name, Clock now, std::size_t events)
    : x_now(std::move(now)), x_most_events(events) {
    x_open.push_back({x_regions.within(0, name), x_now()});
}

void Profiler::begin(std::string_view name) {
    const std::size_t place = x_regions.within(x_open.back().place, name);
    x_open.push_back({place, x_now()});
}

void Profiler::end() {
    const auto [place, start_s] = x_open.back();
    const double elapsed_s = x_now() - start_s;
    x_open.pop_back();
    x_regions[place].calls += 1;
    x_regions[place].inclusive_s += elapsed_s;
    x_events.add({place, 0, start_s, elapsed_s}, x_most_events);
}

void Profiler::merge(const Profiler& other) {
    if (!on() || !other.on()) return;
    const ProfileOfThread theirs = other.profile();
    NamesInOrder names(x_regions);
    std::vector<std::size_t> places;
    for (const RegionTimes& one : theirs.regions) {
        places.push_back(names.next(one.depth, one.name));
        x_regions[places.back()].calls += one.calls;
        x_regions[places.back()].inclusive_s += one.inclusive_s;
    }
    for (RegionEvent event : theirs.events.kept) {
        event.region = places[event.region];
        event.thread += x_threads;
        x_events.add(event, x_most_events);
    }
    x_events.left_out += theirs.events.left_out;
    x_events.longest_left_out_s =
        std::max(x_events.longest_left_out_s, theirs.events.longest_left_out_s);
    x_threads += other.x_threads;
}

NameTree<Profiler::Times> Profiler::up_to(double now) const {
    NameTree<Times> regions = x_regions;
    for (const auto& [place, start_s] : x_open) {
        regions[place].calls += 1;
        regions[place].inclusive_s += now - start_s;
    }
    return regions;
}

ProfileOfThread Profiler::profile() const {
    if (!on()) return {};
    const double now = x_now();
    NameTree<Times> regions = up_to(now);
    ProfileOfThread all{{}, x_events};
    for (const auto& [place, start_s] : x_open)
        all.events.add({place, 0, start_s, now - start_s}, x_most_events);
    std::map<std::size_t, std::uint64_t> order;  // place in the tree -> place in the list
    for (const std::size_t place : regions.in_order()) {
        const auto& node = regions.node(place);
        double within_s = 0;
        for (const std::size_t one : node.within) within_s += regions[one].inclusive_s;
        order.emplace(place, all.regions.size());
        all.regions.push_back({node.name, node.depth, node.value.calls, node.value.inclusive_s,
                               node.value.inclusive_s - within_s});
    }
    for (RegionEvent& event : all.events.kept) event.region = order.at(event.region);
    return all;
}

}  // namespace tailrace::server
