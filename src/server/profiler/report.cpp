// SPDX-License-Identifier: Apache-2.0
#include "server/profiler/report.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::server {

namespace {

/// What one rank tells rank 0.
struct Sent {
    ProfileOfThread profile;
    double met_s = 0;
    static void fields(auto& io, auto& v) { io.all(v.profile, v.met_s); }
};

struct OfRank {
    std::uint64_t rank = 0, calls = 0;
    double inclusive_s = 0, exclusive_s = 0;
};
using Tree = NameTree<std::vector<OfRank>>;

RankEvents take(Tree& tree, std::uint64_t rank, Sent sent) {
    NamesInOrder names(tree);
    std::vector<std::size_t> places;
    for (const RegionTimes& one : sent.profile.regions) {
        places.push_back(names.next(one.depth, one.name));
        tree[places.back()].push_back({rank, one.calls, one.inclusive_s, one.exclusive_s});
    }
    for (RegionEvent& event : sent.profile.events.kept) {
        if (event.region >= places.size()) throw damaged("the region of an event");
        event.region = places[event.region];
    }
    return {std::move(sent.profile.events), sent.met_s};
}

/// @param of_ranks  that have the outermost region around it
RegionOfRanks over(const std::vector<OfRank>& ranks, double of_ranks) {
    RegionOfRanks all;
    all.ranks = ranks.size();
    for (const OfRank& one : ranks) {
        all.calls += one.calls;
        all.inclusive_s += one.inclusive_s / of_ranks;
        all.exclusive_s += one.exclusive_s / of_ranks;
    }
    const auto [min, max] = std::ranges::minmax(ranks, {}, &OfRank::exclusive_s);
    all.min_exclusive_s = min.exclusive_s;
    all.min_rank = min.rank;
    all.max_exclusive_s = max.exclusive_s;
    all.max_rank = std::ranges::find(ranks, max.exclusive_s, &OfRank::exclusive_s)->rank;
    return all;
}

ProfileOfRanks joined(const std::vector<std::vector<std::byte>>& sent) {
    ProfileOfRanks profile;
    profile.ranks = sent.size();
    Tree tree;
    for (std::uint64_t rank = 0; rank < sent.size(); ++rank)
        profile.events.push_back(take(tree, rank, unarchived<Sent>(sent[rank])));

    std::map<std::size_t, std::uint64_t> order;  // place in the tree -> place in the list
    std::vector<std::string> path;
    RegionOfRanks outermost;
    for (const std::size_t place : tree.in_order()) {
        const auto& node = tree.node(place);
        path.resize(node.depth - 1);
        path.push_back(node.name);
        const std::size_t of = node.depth == 1 ? node.value.size() : outermost.ranks;
        RegionOfRanks all = over(node.value, static_cast<double>(of));
        if (node.depth == 1) outermost = all;
        const double percent = outermost.inclusive_s > 0 ? 100 / outermost.inclusive_s : 0;
        all.inclusive_percent = percent * all.inclusive_s;
        all.exclusive_percent = percent * all.exclusive_s;
        all.path = path;
        order.emplace(place, profile.regions.size());
        profile.regions.push_back(std::move(all));
    }
    for (RankEvents& of_rank : profile.events)
        for (RegionEvent& event : of_rank.events.kept) event.region = order.at(event.region);
    return profile;
}

}  // namespace

std::optional<ProfileOfRanks> gather(const comm::Comm& comm, const Profiler& profiler,
                                     const Profiler::Clock& now, std::size_t events) {
    Sent mine;
    comm.agree_on([&] {
        mine.profile = profiler.profile();
        mine.profile.events.thin(
            std::max<std::size_t>(1, events / static_cast<std::size_t>(comm.size())));
    });
    // The ranks of a node read one clock; nodes agree on the moment at which they leave the
    // barrier.
    const comm::Comm node = comm.split_node();
    comm.barrier();
    mine.met_s = node.min(now());
    const auto bytes = comm.agree_on([&] { return archived(mine); });
    const auto sent = comm.gather(bytes);
    return comm.agree_on(
        [&] { return comm.rank() == 0 ? std::optional(joined(sent)) : std::nullopt; });
}

}  // namespace tailrace::server
