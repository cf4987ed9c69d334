// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/united.hpp"

#include <algorithm>
#include <cstring>

#include "formats/hdf5/chunk_share.hpp"
#include "formats/hdf5/encoder.hpp"
#include "formats/pieces.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Box;
using core::Extents;
using core::Object;
using core::Write;

/// Elements that follow one another in the file, and where they lie among the united values.
struct Run {
    std::uint64_t at, count, position;
};

std::uint64_t bytes_of(const Object& object, const Box& place) {
    const std::uint64_t volume = place.volume();
    return volume * core::size_of(object.type) + volume / place.count.back() * sizeof(Run);
}

/// Pieces with other members of a compound are of another type in memory.
bool same_members(const Object& object, const Box& a, const Box& b) {
    return object.members.empty() ||
           (a.offset.back() == b.offset.back() && a.count.back() == b.count.back());
}

/// The runs of all pieces, in the order of the file, each element once.
std::vector<Run> runs_of(std::span<const Box> places, const Extents& dims) {
    std::vector<Run> runs;
    for (const Box& place : places)
        core::for_each_run(place, dims, [&](std::uint64_t at, std::uint64_t, std::uint64_t count) {
            runs.push_back({at, count, 0});
        });
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.at < b.at; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const std::uint64_t end = runs[last].at + runs[last].count;
        if (runs[i].at <= end) {
            runs[last].count = std::max(end, runs[i].at + runs[i].count) - runs[last].at;
            continue;
        }
        const std::uint64_t position = runs[last].position + runs[last].count;
        runs[++last] = {runs[i].at, runs[i].count, position};
    }
    runs.resize(last + 1);
    return runs;
}

void lay(const Box& place, const Extents& dims, std::span<const Run> runs, const std::byte* from,
         std::uint64_t size, std::byte* values) {
    core::for_each_run(place, dims,
                       [&](std::uint64_t at, std::uint64_t in_piece, std::uint64_t count) {
                           const auto after = std::upper_bound(
                               runs.begin(), runs.end(), at,
                               [](std::uint64_t value, const Run& run) { return value < run.at; });
                           const Run& run = *std::prev(after);
                           std::memcpy(values + (run.position + at - run.at) * size,
                                       from + in_piece * size, count * size);
                       });
}

/// Lays the elements of `piece`, in the type of the file, among the united ones.
void lay(const Object& object, const Write& piece, const Box& place, const Extents& dims,
         std::span<const Run> runs, std::byte* values) {
    const std::uint64_t size = core::size_of(object.type);
    const bool converts = object.members.empty() && piece.type != object.type;
    const PartInMemory memory(piece.place, piece.place, piece.memory);
    if (!converts && memory.contiguous())
        return lay(place, dims, runs, piece.data + memory.first_element() * size, size, values);
    Write typed = piece;  // of a compound it is not told
    if (!converts) typed.type = object.type;
    const auto packed = elements_of(typed, piece.place, object.type, convert_to_file_type);
    lay(place, dims, runs, packed.data(), size, values);
}

}  // namespace

std::vector<Group> groups_of(const Object& object, Group pieces, std::uint64_t most_bytes) {
    std::vector<Group> groups;
    const std::size_t rank = in_file(object, Extents(object.dims.size())).size();
    std::size_t begin = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Box& place = pieces[i]->place;
        const std::uint64_t more = rank == 0 ? most_bytes + 1 : bytes_of(object, place);
        const bool joins = i > begin && bytes + more <= most_bytes &&
                           same_members(object, pieces[begin]->place, place);
        if (i > begin && !joins) {
            groups.push_back(pieces.subspan(begin, i - begin));
            begin = i;
            bytes = 0;
        }
        bytes += more;
    }
    if (begin < pieces.size()) groups.push_back(pieces.subspan(begin));
    return groups;
}

United unite(const Object& object, const Extents& dims, Group pieces, h5::Id in_file) {
    // Of a compound only those members are among the values that the pieces have.
    Extents extents = dims;
    std::vector<Box> places, in_space;
    for (const Write* piece : pieces) {
        Box place = piece->place;
        in_space.push_back(
            {hdf5::in_file(object, place.offset), hdf5::in_file(object, place.count)});
        if (!object.members.empty()) {
            place.offset.back() = 0;
            extents.back() = place.count.back();
        }
        places.push_back(std::move(place));
    }
    const std::vector<Run> runs = runs_of(places, extents);
    United all;
    all.elements = runs.back().position + runs.back().count;
    all.values = std::make_unique_for_overwrite<std::byte[]>(
        static_cast<std::size_t>(all.elements * core::size_of(object.type)));
    for (std::size_t i = 0; i < pieces.size(); ++i)
        lay(object, *pieces[i], places[i], extents, runs, all.values.get());

    std::sort(in_space.begin(), in_space.end(),
              [](const Box& a, const Box& b) { return a.offset < b.offset; });
    all.selected = selected(object, object.type, pieces.front()->place, {}, std::move(in_file));
    all.selected.in_file = h5::united(all.selected.in_file, in_space);
    const std::uint64_t in_one = object.members.empty() ? 1 : extents.back();
    all.selected.in_memory = h5::simple_space(Extents{all.elements / in_one});
    return all;
}

}  // namespace tailrace::formats::hdf5
