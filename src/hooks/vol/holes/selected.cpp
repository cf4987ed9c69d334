// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/selected.hpp"

#include "hooks/vol/objects/describe.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

/// The library counts the elements of a file by the extents of the selection.
bool has_extents_of(const Library& of, Id space, const Array& array) {
    uint64_t dims[most_dimensions];
    if (of.H5Sget_simple_extent_ndims(space) != static_cast<int>(array.rank) ||
        of.H5Sget_simple_extent_dims(space, dims, nullptr) < 0)
        return false;
    for (uint32_t d = 1; d < array.rank; ++d)
        if (dims[d] != array.dims[d]) return false;
    return true;
}

constexpr uint64_t numbers_at_once = 2048;

/// Calls `what(first, last)` for each block.
template <typename What>
bool for_blocks(const Library& of, Id space, uint64_t rank, What what) {
    const int64_t count = of.H5Sget_select_hyper_nblocks(space);
    const uint64_t step = numbers_at_once / (2 * rank);
    uint64_t numbers[numbers_at_once];
    for (uint64_t at = 0; count > 0 && at < static_cast<uint64_t>(count); at += step) {
        const uint64_t left = static_cast<uint64_t>(count) - at;
        const uint64_t now = left < step ? left : step;
        if (of.H5Sget_select_hyper_blocklist(space, at, now, numbers) < 0) return false;
        for (uint64_t n = 0; n < now; ++n)
            what(numbers + 2 * rank * n, numbers + 2 * rank * n + rank);
    }
    return count > 0;
}

/// Calls `what(point, point)` for each point.
template <typename What>
bool for_points(const Library& of, Id space, uint64_t rank, What what) {
    const int64_t count = of.H5Sget_select_elem_npoints(space);
    const uint64_t step = numbers_at_once / rank;
    uint64_t numbers[numbers_at_once];
    for (uint64_t at = 0; count > 0 && at < static_cast<uint64_t>(count); at += step) {
        const uint64_t left = static_cast<uint64_t>(count) - at;
        const uint64_t now = left < step ? left : step;
        if (of.H5Sget_select_elem_pointlist(space, at, now, numbers) < 0) return false;
        for (uint64_t n = 0; n < now; ++n) what(numbers + rank * n, numbers + rank * n);
    }
    return count > 0;
}

template <typename What>
bool for_parts(const Library& of, Id space, uint32_t rank, What what) {
    switch (of.H5Sget_select_type(space)) {
        case select_hyperslabs:
            return for_blocks(of, space, rank, what);
        case select_points:
            return for_points(of, space, rank, what);
        default:
            return false;
    }
}

/// How far a selection is moved (H5Soffset_simple): only its bounds tell.
struct Moved {
    uint64_t by[most_dimensions];  ///< added to an index, without a care for its sign

    bool find(const Library& of, Id space, uint32_t rank) {
        uint64_t first[most_dimensions];
        uint64_t last[most_dimensions];
        bool any = false;
        const auto widen = [&](const uint64_t* from, const uint64_t* to) {
            for (uint32_t d = 0; d < rank; ++d) {
                if (!any || from[d] < first[d]) first[d] = from[d];
                if (!any || to[d] > last[d]) last[d] = to[d];
            }
            any = true;
        };
        uint64_t end[most_dimensions];
        if (!for_parts(of, space, rank, widen) || of.H5Sget_select_bounds(space, by, end) < 0)
            return false;
        bool same = true;
        for (uint32_t d = 0; d < rank; ++d) {
            by[d] -= first[d];
            same = same && end[d] - last[d] == by[d];
        }
        return same;
    }
};

bool add_parts(const Library& of, Id space, const Array& array, WrittenPlaces& to) {
    const uint32_t rank = array.rank;
    Moved moved;
    if (!has_extents_of(of, space, array) || !moved.find(of, space, rank)) return false;
    return for_parts(of, space, rank, [&](const uint64_t* first, const uint64_t* last) {
        ElementSet place;
        place.rank = rank;
        for (uint32_t d = 0; d < rank; ++d) {
            place.start[d] = first[d] + moved.by[d];
            place.stride[d] = place.count[d] = 1;
            place.block[d] = last[d] - first[d] + 1;
        }
        to.add(place);
    });
}

}  // namespace

bool is_regular_within(const Library& of, Id space, const Array& array, ElementSet& place) {
    if (!has_extents_of(of, space, array)) return false;
    if (!regular_place(of, space, array.rank, place)) return false;
    for (uint32_t d = 0; d < array.rank; ++d) {
        const uint64_t end =
            place.start[d] + (place.count[d] - 1) * place.stride[d] + place.block[d];
        if (end > array.dims[d]) return false;
    }
    return true;
}

void add_selected(const Library& of, Id space, const Array& array, WrittenPlaces& to) {
    if (space == space_all) {
        to.add_all();
        return;
    }
    const Quiet quiet(of);
    const int type = of.H5Sget_select_type(space);
    if (type == select_none) return;
    const int64_t elements = of.H5Sget_select_npoints(space);
    if (elements == 0) return;
    // Its extent may be another one than the dataset's.
    if (type == select_all && elements == static_cast<int64_t>(array.elements)) {
        to.add_all();
        return;
    }
    ElementSet place;
    if (type == select_hyperslabs && is_regular_within(of, space, array, place)) {
        to.add(place);
        return;
    }
    if (!add_parts(of, space, array, to)) to.lose();
}

}  // namespace tailrace::hooks::vol
