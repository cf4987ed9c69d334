// SPDX-License-Identifier: Apache-2.0
// AMReX's ways to give boxes to ranks.
#include <algorithm>
#include <numeric>
#include <queue>

#include "kernels/amr/mesh.hpp"

namespace tailrace::kernels::amr {

namespace {

using Weights = std::vector<std::uint64_t>;
using Bin = std::vector<std::uint32_t>;  ///< numbers of boxes

constexpr double efficient_enough = 0.9;

std::uint64_t weight_of(const Bin& bin, const Weights& weights) {
    std::uint64_t sum = 0;
    for (const std::uint32_t box : bin) sum += weights[box];
    return sum;
}

/// The heaviest first, equals as they were.
Bin heaviest_first(const Weights& weights) {
    Bin order(weights.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return weights[a] > weights[b]; });
    return order;
}

/// The heaviest bin goes to rank 0.
std::vector<std::int32_t> owners_of(const std::vector<Bin>& bins, const Weights& weights) {
    Weights sums;
    sums.reserve(bins.size());
    for (const Bin& bin : bins) sums.push_back(weight_of(bin, weights));
    std::vector<std::int32_t> owners(weights.size(), 0);
    std::int32_t rank = 0;
    for (const std::uint32_t bin : heaviest_first(sums)) {
        for (const std::uint32_t box : bins[bin]) owners[box] = rank;
        ++rank;
    }
    return owners;
}

std::vector<std::int32_t> round_robin(const Weights& weights, std::uint64_t ranks) {
    std::vector<std::int32_t> owners(weights.size(), 0);
    std::uint64_t at = 0;
    for (const std::uint32_t box : heaviest_first(weights))
        owners[box] = static_cast<std::int32_t>(at++ % ranks);
    return owners;
}

/// The bits of a coordinate with two zeros between them.
std::uint64_t spread(std::uint64_t bits) {
    bits = (bits | bits << 32) & 0x1f00000000ffffULL;
    bits = (bits | bits << 16) & 0x1f0000ff0000ffULL;
    bits = (bits | bits << 8) & 0x100f00f00f00f00fULL;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3ULL;
    return (bits | bits << 2) & 0x1249249249249249ULL;
}

/// Where a box stands on the curve. AMReX adds 2^29 to each coordinate, which orders nothing anew
/// as long as none is negative.
std::pair<std::uint64_t, std::uint64_t> on_the_curve(const Cell& lo) {
    constexpr std::uint32_t low = (1U << 15) - 1;
    const auto interleaved = [&](auto part) {
        return spread(part(lo[0])) | spread(part(lo[1])) << 1 | spread(part(lo[2])) << 2;
    };
    return {interleaved([](std::int32_t c) { return static_cast<std::uint32_t>(c) >> 15; }),
            interleaved([](std::int32_t c) { return static_cast<std::uint32_t>(c) & low; })};
}

std::vector<std::int32_t> along_the_curve(const std::vector<CellBox>& boxes, const Weights& weights,
                                          std::uint64_t ranks) {
    std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>> line;
    line.reserve(boxes.size());
    for (const CellBox& box : boxes)
        line.emplace_back(on_the_curve(box.lo), static_cast<std::uint32_t>(line.size()));
    std::sort(line.begin(), line.end());
    double share = 0;  // a double, as in AMReX, so that sums end where its sums end
    for (const std::uint64_t weight : weights) share += static_cast<double>(weight);
    share /= static_cast<double>(ranks);
    std::vector<Bin> bins(static_cast<std::size_t>(ranks));
    double given = 0;
    auto next = line.begin();
    for (std::size_t rank = 0; rank < bins.size(); ++rank) {
        const bool last = rank + 1 == bins.size();
        Bin& bin = bins[rank];
        double here = 0;
        for (; next != line.end() && (last || here < share); ++next) {
            here += static_cast<double>(weights[next->second]);
            bin.push_back(next->second);
        }
        given += here;
        const bool too_much = given / static_cast<double>(rank + 1) > share;
        if (last || !too_much || bin.size() < 2) continue;
        given -= static_cast<double>(weights[bin.back()]);
        bin.pop_back();
        --next;
    }
    return owners_of(bins, weights);
}

struct Sack {
    Bin boxes;
    std::uint64_t weight = 0;
};

/// Each box, the heaviest first, into the lightest sack.
std::vector<Sack> packed(const Weights& weights, std::uint64_t ranks) {
    std::vector<Sack> sacks(static_cast<std::size_t>(ranks));
    using Entry = std::pair<std::uint64_t, std::size_t>;  // of equal ones the first
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> lightest;
    for (std::size_t i = 0; i < sacks.size(); ++i) lightest.emplace(0, i);
    for (const std::uint32_t box : heaviest_first(weights)) {
        const std::size_t at = lightest.top().second;
        lightest.pop();
        sacks[at].boxes.push_back(box);
        sacks[at].weight += weights[box];
        lightest.emplace(sacks[at].weight, at);
    }
    std::stable_sort(sacks.begin(), sacks.end(),
                     [](const Sack& a, const Sack& b) { return a.weight > b.weight; });
    return sacks;
}

/// Swaps a box of the heaviest sack for one of the lightest, where both then weigh less than the
/// heaviest did.
bool swapped(Sack& heaviest, Sack& lightest, const Weights& weights) {
    for (std::uint32_t& a : heaviest.boxes)
        for (std::uint32_t& b : lightest.boxes) {
            if (weights[a] <= weights[b]) continue;
            const std::uint64_t more = weights[a] - weights[b];
            if (lightest.weight + more >= heaviest.weight) continue;
            std::swap(a, b);
            heaviest.weight -= more;
            lightest.weight += more;
            return true;
        }
    return false;
}

std::vector<std::int32_t> knapsack(const Weights& weights, std::uint64_t ranks) {
    std::vector<Sack> sacks = packed(weights, ranks);
    const double all = static_cast<double>(std::accumulate(weights.begin(), weights.end(), 0ULL));
    const auto heavier = [](const Sack& a, const Sack& b) { return a.weight > b.weight; };
    const auto efficient = [&] {
        const double most = static_cast<double>(sacks.front().weight) * static_cast<double>(ranks);
        return all / most >= efficient_enough;
    };
    while (sacks.size() > 1 && !efficient() && sacks.front().boxes.size() > 1 &&
           swapped(sacks.front(), sacks.back(), weights))
        std::stable_sort(sacks.begin(), sacks.end(), heavier);
    std::vector<Bin> bins;
    bins.reserve(sacks.size());
    for (Sack& sack : sacks) bins.push_back(std::move(sack.boxes));
    return owners_of(bins, weights);
}

}  // namespace

std::vector<std::int32_t> distribute(const std::vector<CellBox>& boxes, Distribution how,
                                     std::uint64_t ranks) {
    Weights weights;
    weights.reserve(boxes.size());
    for (const CellBox& box : boxes) weights.push_back(box.cells());
    if (how == Distribution::sfc) return along_the_curve(boxes, weights, ranks);
    // AMReX's knapsack does the same with no more boxes than ranks.
    if (how == Distribution::roundrobin || ranks < 2 || boxes.size() <= ranks)
        return round_robin(weights, ranks);
    return knapsack(weights, ranks);
}

}  // namespace tailrace::kernels::amr
