// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/united.hpp"

#include <algorithm>
#include <cstring>

#include "formats/hdf5/chunk_share.hpp"
#include "formats/hdf5/encoder.hpp"
#include "formats/sink/pieces.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Box;
using core::Extents;
using core::Object;
using core::Write;

/// Elements of a piece of a chunked object up to which another call of all ranks costs more than to
/// look at each, or to lay them out once more.
constexpr std::uint64_t few_elements = 4096;

/// HDF5 looks at each chunk of the box around a selection: half a microsecond.
constexpr double most_chunks = 32768;

std::uint64_t bytes_of(const Object& object, const Box& place) {
    const std::uint64_t elements = place.volume();
    const std::uint64_t runs = place.rank() == 0 ? 1 : elements / place.count.back();
    return elements * core::size_of(object.type) + runs * sizeof(Run);
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

/// Calls `copy` with places among the united values and in the piece, and how many elements.
template <class Copy>
void for_each_part(const Box& place, const Extents& dims, std::span<const Run> runs, Copy&& copy) {
    core::for_each_run(place, dims,
                       [&](std::uint64_t at, std::uint64_t in_piece, std::uint64_t count) {
                           const auto after = std::upper_bound(
                               runs.begin(), runs.end(), at,
                               [](std::uint64_t value, const Run& run) { return value < run.at; });
                           const Run& run = *std::prev(after);
                           copy(run.position + at - run.at, in_piece, count);
                       });
}

void lay(const Box& place, const Extents& dims, std::span<const Run> runs, const std::byte* from,
         std::uint64_t size, std::byte* values) {
    for_each_part(place, dims, runs, [&](auto united, auto in_piece, auto count) {
        std::memcpy(values + united * size, from + in_piece * size, count * size);
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

Box around(const Box& a, const Box& b) {
    Box both = a;
    for (std::size_t d = 0; d < a.rank(); ++d) {
        both.offset[d] = std::min(a.offset[d], b.offset[d]);
        both.count[d] =
            std::max(a.offset[d] + a.count[d], b.offset[d] + b.count[d]) - both.offset[d];
    }
    return both;
}

/// What one group of pieces would need, as they come.
class Growing {
public:
    Growing(const Object& object, const Uniting& how)
        : x_object(object),
          x_how(how),
          x_rank(in_file(object, Extents(object.dims.size())).size()) {}

    [[nodiscard]] bool takes(const Box& place) const {
        if (x_alone || alone(place) || !same_members(x_object, x_box, place)) return false;
        const Box box = around(x_box, place);
        const std::uint64_t elements = x_elements + place.volume();
        if (by_element() && chunks_of(box) > most_chunks) return false;
        if (fits(box)) return true;
        if (by_element() && elements > (x_pieces + 1) * few_elements) return false;
        return x_bytes + bytes_of(x_object, place) <= x_how.most_bytes;
    }
    void add(const Box& place) {
        x_box = x_pieces == 0 ? place : around(x_box, place);
        x_alone = x_alone || alone(place);
        ++x_pieces;
        x_elements += place.volume();
        x_bytes += bytes_of(x_object, place);
    }
    [[nodiscard]] bool in_box() const { return fits(x_box); }

private:
    // HDF5 finds the chunks of selections of the same shape fast, and of two lines; else it looks
    // at each element.
    [[nodiscard]] bool by_element() const { return !x_how.chunk.empty() && x_rank > 1; }
    /// Much in one chunk is written fastest as it is; but through filters a chunk goes as a whole.
    [[nodiscard]] bool alone(const Box& place) const {
        if (x_rank == 0) return true;
        if (!by_element() || x_how.filtered || place.volume() <= few_elements) return false;
        for (std::size_t d = 0; d < x_rank; ++d)
            if (place.offset[d] % x_how.chunk[d] + place.count[d] > x_how.chunk[d]) return false;
        return true;
    }
    [[nodiscard]] double chunks_of(const Box& box) const {
        double chunks = 1;
        for (std::size_t d = 0; d < x_rank; ++d) {
            const std::uint64_t along = box.count[d] / x_how.chunk[d] + 1;
            chunks *= static_cast<double>(along);
        }
        return chunks;
    }
    [[nodiscard]] bool fits(const Box& box) const {
        const std::uint64_t size = core::size_of(x_object.type);
        std::uint64_t most = x_how.most_bytes / size;
        for (const std::uint64_t count : box.count) most /= count;
        return by_element() && most > 0;
    }

    const Object& x_object;
    const Uniting& x_how;
    std::size_t x_rank;
    std::size_t x_pieces = 0;
    bool x_alone = false;
    std::uint64_t x_elements = 0, x_bytes = 0;
    Box x_box;
};

}  // namespace

std::vector<Group> groups_of(const Object& object, std::span<const Write* const> pieces,
                             const Uniting& how) {
    std::vector<Group> groups;
    for (std::size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
        Growing growing(object, how);
        for (; end < pieces.size() && (end == begin || growing.takes(pieces[end]->place)); ++end)
            growing.add(pieces[end]->place);
        groups.push_back({pieces.subspan(begin, end - begin), growing.in_box()});
    }
    return groups;
}

United united_places(const Object& object, const Extents& dims, const Group& group,
                     h5::Id in_file) {
    // Of a compound only those members are among the values that the pieces have.
    std::vector<Box> places;
    for (const Write* piece : group.pieces) {
        places.push_back(piece->place);
        if (!object.members.empty()) places.back().offset.back() = 0;
    }
    Box all{Extents(dims.size()), dims};
    if (!object.members.empty()) all.count.back() = places.front().count.back();
    const auto in_space = [&] {
        std::vector<Box> boxes;
        for (const Box& place : places)
            boxes.push_back(
                {hdf5::in_file(object, place.offset), hdf5::in_file(object, place.count)});
        std::sort(boxes.begin(), boxes.end(),
                  [](const Box& a, const Box& b) { return a.offset < b.offset; });
        return boxes;
    };
    United united;
    united.selected =
        selected(object, object.type, group.pieces.front()->place, {}, std::move(in_file));
    united.selected.in_file = h5::united(united.selected.in_file, in_space());
    const std::uint64_t in_one = object.members.empty() ? 1 : all.count.back();
    const std::uint64_t points = h5::points_of(united.selected.in_file);
    united.elements = points * in_one;
    std::vector<Run> runs;
    if (group.in_box) {
        all = places.front();
        for (const Box& place : places) all = around(all, place);
        for (Box& place : places)
            for (std::size_t d = 0; d < all.rank(); ++d) place.offset[d] -= all.offset[d];
        runs = {{0, all.volume(), 0}};
        united.selected.in_memory =
            h5::united(h5::simple_space(hdf5::in_file(object, all.count)), in_space());
    } else {
        runs = runs_of(places, all.count);
        united.selected.in_memory = h5::simple_space(Extents{points});
    }
    united.values = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(
        (runs.back().position + runs.back().count) * core::size_of(object.type)));
    united.places = std::move(places);
    united.dims = std::move(all.count);
    united.runs = std::move(runs);
    return united;
}

United unite(const Object& object, const Extents& dims, const Group& group, h5::Id in_file) {
    United united = united_places(object, dims, group, std::move(in_file));
    for (std::size_t i = 0; i < united.places.size(); ++i)
        lay(object, *group.pieces[i], united.places[i], united.dims, united.runs,
            united.values.get());
    return united;
}

void hand_out(const Object& object, const United& united, std::span<core::Read* const> pieces) {
    const std::uint64_t size = core::size_of(object.type);
    std::vector<std::byte> packed;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const core::Read& piece = *pieces[i];
        const PartInMemory memory(piece.place, piece.place, piece.memory);
        const bool direct = memory.contiguous();
        if (!direct) packed.resize(static_cast<std::size_t>(piece.place.volume() * size));
        std::byte* to = direct ? piece.data + memory.first_element() * size : packed.data();
        for_each_part(
            united.places[i], united.dims, united.runs, [&](auto at, auto in_piece, auto count) {
                std::memcpy(to + in_piece * size, united.values.get() + at * size, count * size);
            });
        if (!direct) memory.unpack(packed.data(), size, piece.data);
    }
}

}  // namespace tailrace::formats::hdf5
