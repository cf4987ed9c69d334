// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/read_turns.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "comm/mpi_io.hpp"

namespace tailrace::formats::mpiio {

namespace {

using Numbers = std::vector<std::uint64_t>;

/// Of all ranks together; beyond, a rank's places are the box around them.
constexpr std::uint64_t most_places = 16384;

std::uint64_t begin_of(const core::Box& box) { return box.rank() == 0 ? 0 : box.offset[0]; }
std::uint64_t end_of(const core::Box& box) {
    return box.rank() == 0 ? 1 : box.offset[0] + box.count[0];
}

/// One box around all places of each object.
std::vector<Place> around(const std::vector<Place>& places) {
    std::map<std::size_t, core::Box> boxes;
    for (const Place& place : places) {
        core::Box& box = boxes.try_emplace(place.object, place.box).first->second;
        for (std::size_t d = 0; d < box.rank(); ++d) {
            const std::uint64_t end =
                std::max(box.offset[d] + box.count[d], place.box.offset[d] + place.box.count[d]);
            box.offset[d] = std::min(box.offset[d], place.box.offset[d]);
            box.count[d] = end - box.offset[d];
        }
    }
    std::vector<Place> all;
    for (auto& [object, box] : boxes) all.push_back({object, std::move(box)});
    return all;
}

Numbers packed(const std::vector<Place>& places) {
    Numbers numbers;
    for (const Place& place : places) {
        numbers.insert(numbers.end(), {place.object, place.box.rank()});
        numbers.insert(numbers.end(), place.box.offset.begin(), place.box.offset.end());
        numbers.insert(numbers.end(), place.box.count.begin(), place.box.count.end());
    }
    return numbers;
}

void unpack(std::span<const std::byte> bytes, std::uint64_t rank, std::vector<Place>& places) {
    Numbers numbers(bytes.size() / sizeof(std::uint64_t));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    for (auto at = numbers.begin(); at != numbers.end();) {
        const std::size_t object = *at++;
        const auto dims = static_cast<std::ptrdiff_t>(*at++);
        const auto middle = at + dims;
        places.push_back({object, {{at, middle}, {middle, middle + dims}}, rank});
        at = middle + dims;
    }
}

/// Each rank has the first turn in which nobody before it meets it.
Numbers turns_of(std::vector<Place> places, std::size_t ranks) {
    std::vector<std::set<std::uint64_t>> met(ranks);
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::pair(a.object, begin_of(a.box)) < std::pair(b.object, begin_of(b.box));
    });
    for (auto a = places.begin(); a != places.end(); ++a)
        for (auto b = a + 1;
             b != places.end() && b->object == a->object && begin_of(b->box) < end_of(a->box); ++b)
            if (a->rank != b->rank && meet(a->box, b->box))
                met[std::max(a->rank, b->rank)].insert(std::min(a->rank, b->rank));
    Numbers turns(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::set<std::uint64_t> taken;
        for (const std::uint64_t before : met[rank]) taken.insert(turns[before]);
        while (taken.contains(turns[rank])) ++turns[rank];
    }
    return turns;
}

}  // namespace

bool meet(const core::Box& a, const core::Box& b) {
    for (std::size_t d = 0; d < a.rank(); ++d)
        if (a.offset[d] >= b.offset[d] + b.count[d] || b.offset[d] >= a.offset[d] + a.count[d])
            return false;
    return true;
}

ReadTurns read_turns(const comm::Comm& comm, std::vector<Place> mine) {
    if (comm.size() == 1) return {};
    // A rank that has opened nothing through MPI-IO (subfiling) does not know the implementation.
    const bool unaffected = !comm::mpi_io_implementation().starts_with("OMPIO");
    if (comm.max(std::uint64_t{unaffected ? 1U : 0U}) != 0) return {};
    if (comm.sum(std::uint64_t{mine.size()}) > most_places) mine = around(mine);
    const Numbers told = packed(mine);
    const auto gathered = comm.gather(std::as_bytes(std::span(told)));
    Numbers turns = comm.agree_on([&] {
        std::vector<Place> all;  // on rank 0; nothing on the others
        for (std::size_t rank = 0; rank < gathered.size(); ++rank)
            unpack(gathered[rank], rank, all);
        return turns_of(std::move(all), static_cast<std::size_t>(comm.size()));
    });
    comm.broadcast(std::as_writable_bytes(std::span(turns)));
    return {turns[static_cast<std::size_t>(comm.rank())],
            *std::max_element(turns.begin(), turns.end()) + 1};
}

}  // namespace tailrace::formats::mpiio
