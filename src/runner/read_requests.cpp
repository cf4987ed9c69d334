// SPDX-License-Identifier: Apache-2.0
// Which elements a pattern reads, and which rank asks for them when.
#include <algorithm>
#include <random>
#include <utility>

#include "runner/reading.hpp"
#include "runner/reads.hpp"

namespace tailrace::runner {

namespace {

constexpr std::uint64_t points_of_object = 16;
constexpr std::uint64_t seed = 20180601;  // fixed: the same elements in every run

using Pieces = std::vector<Piece>;

/// One request for each piece, cut where it has no room.
std::vector<Request> one_by_one(const Kernel& kernel, const Pieces& pieces, std::uint64_t room) {
    std::vector<Request> requests;
    for (const Piece& piece : pieces)
        for (core::Box& box :
             pieces_of(piece.place, room / core::size_of(kernel.type(piece.object))))
            requests.push_back({{piece.object, std::move(box), piece.step}});
    return requests;
}

/// As many pieces in a request as have room.
std::vector<Request> together(const Kernel& kernel, const Pieces& pieces, std::uint64_t room) {
    std::vector<Request> requests;
    std::uint64_t left = 0;
    for (Request& one : one_by_one(kernel, pieces, room)) {
        const std::uint64_t bytes =
            one.front().place.volume() * core::size_of(kernel.type(one.front().object));
        if (requests.empty() || bytes > left) {
            requests.emplace_back();
            left = room;
        }
        requests.back().push_back(std::move(one.front()));
        left -= bytes;
    }
    return requests;
}

void add(Pieces& all, Pieces pieces, std::uint64_t step) {
    for (Piece& piece : pieces) {
        piece.step = step;
        if (!piece.place.empty()) all.push_back(std::move(piece));
    }
}

/// Of all steps in the file of `first`.
template <class Deal>
Pieces of_all_steps(const Kernel& kernel, std::uint64_t first, Deal&& deal) {
    Pieces all;
    for (std::uint64_t step = first; step < file_end(kernel, first); ++step)
        add(all, deal(step), step);
    return all;
}

/// The middle index of the fastest dimension: the plane whose elements lie farthest apart.
Pieces planes(const Kernel& kernel, std::uint64_t file, std::uint64_t rank) {
    Pieces mine;
    const std::vector<core::Object> objects = kernel.schema_of(file).objects;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        core::Extents dims = objects[i].sizes();
        const std::uint64_t middle = dims.back() / 2;
        dims.back() = 1;
        const auto longest =
            static_cast<std::size_t>(std::max_element(dims.begin(), dims.end() - 1) - dims.begin());
        core::Box part = core::cut(dims, longest, kernel.ranks(), rank);
        if (part.empty()) continue;
        part.offset.back() = middle;
        mine.push_back({i, std::move(part), file});
    }
    return mine;
}

/// Different positions in `dims`, drawn at random; fewer where there are no more.
std::vector<core::Extents> drawn(const core::Extents& dims, std::mt19937_64& random) {
    std::vector<core::Extents> found;
    for (std::uint64_t draw = 0; draw < 8 * points_of_object; ++draw) {
        core::Extents one;
        for (const std::uint64_t extent : dims) one.push_back(random() % extent);
        const bool fresh = std::find(found.begin(), found.end(), one) == found.end();
        if (fresh && found.size() < points_of_object) found.push_back(std::move(one));
    }
    return found;
}

/// Some points of each object, each along the whole first dimension; single elements of an object
/// with one dimension.
Pieces points(const Kernel& kernel, std::uint64_t file, std::uint64_t rank) {
    Pieces mine;
    std::mt19937_64 random(seed);
    const std::vector<core::Object> objects = kernel.schema_of(file).objects;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (kernel.is_late(i)) continue;
        const core::Extents dims = objects[i].sizes();
        const std::size_t first = dims.size() > 1 ? 1 : 0;
        const std::vector<core::Extents> positions =
            drawn({dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end()}, random);
        for (std::size_t point = 0; point < positions.size(); ++point) {
            if (point % kernel.ranks() != rank) continue;
            core::Box box{core::Extents(dims.size(), 0), dims};
            for (std::size_t d = first; d < dims.size(); ++d) {
                box.offset[d] = positions[point][d - first];
                box.count[d] = 1;
            }
            mine.push_back({i, std::move(box), file});
        }
    }
    return mine;
}

/// What the ranks wrote in the steps, as samples in random order, dealt out in turns.
Pieces shuffled(const Kernel& kernel, std::uint64_t file, std::uint64_t rank) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> samples;  // step, writer
    for (std::uint64_t step = file; step < file_end(kernel, file); ++step)
        for (std::uint64_t writer = 0; writer < kernel.ranks(); ++writer)
            samples.emplace_back(step, writer);
    std::mt19937_64 random(seed);
    for (std::size_t i = samples.size(); i > 1; --i)  // the same order with every library
        std::swap(samples[i - 1], samples[static_cast<std::size_t>(random() % i)]);
    Pieces mine;
    for (std::size_t i = static_cast<std::size_t>(rank); i < samples.size(); i += kernel.ranks())
        add(mine, kernel.pieces(samples[i].second, samples[i].first), samples[i].first);
    return mine;
}

}  // namespace

std::vector<Request> requests_of(const Kernel& kernel, ReadPattern pattern, std::uint64_t file,
                                 std::uint64_t rank, std::uint64_t room) {
    const auto steps = [&](auto&& deal) { return of_all_steps(kernel, file, deal); };
    if (kernel.chooses(pattern))
        return together(kernel, steps([&](std::uint64_t step) {
                            return kernel.chosen_pieces(pattern, rank, step);
                        }),
                        room);
    switch (pattern) {
        case ReadPattern::other:
            return one_by_one(
                kernel, steps([&](std::uint64_t step) { return kernel.other_pieces(rank, step); }),
                room);
        case ReadPattern::plane:
            return one_by_one(kernel, planes(kernel, file, rank), room);
        case ReadPattern::points:
            return together(kernel, points(kernel, file, rank), room);
        case ReadPattern::shuffled:
            return one_by_one(kernel, shuffled(kernel, file, rank), room);
        default:
            break;
    }
    return one_by_one(kernel, steps([&](std::uint64_t step) { return kernel.pieces(rank, step); }),
                      room);
}

}  // namespace tailrace::runner
