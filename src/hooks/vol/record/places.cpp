// SPDX-License-Identifier: Apache-2.0
// Which elements were touched: at most so many regular places, grown together where they fit.
#include <string.h>

#include "hooks/vol/record/track.hpp"

namespace tailrace::hooks::vol {
namespace {

using intent::spool::Writer;

/// One regular place in a record: four times `rank` numbers.
struct Slot {
    uint64_t* start;
    uint64_t* stride;
    uint64_t* count;
    uint64_t* block;
    uint32_t rank;

    Slot(uint64_t* at, uint32_t dimensions)
        : start(at),
          stride(at + dimensions),
          count(at + 2 * uint64_t{dimensions}),
          block(at + 3 * uint64_t{dimensions}),
          rank(dimensions) {}
    [[nodiscard]] uint64_t end(uint32_t d) const {
        return start[d] + (count[d] - 1) * stride[d] + block[d];
    }
    [[nodiscard]] bool plain() const {
        for (uint32_t d = 0; d < rank; ++d) {
            if (count[d] != 1) return false;
        }
        return true;
    }
};

Slot slot(Writer& writer, uint64_t record, uint32_t number, uint32_t rank) {
    auto* first = reinterpret_cast<uint64_t*>(&writer.at<spool::PlacesRecord>(record) + 1);
    return {first + static_cast<size_t>(number) * 4 * rank, rank};
}

bool same_in(const Slot& a, const Slot& b, uint32_t d) {
    return a.start[d] == b.start[d] && a.count[d] == b.count[d] && a.block[d] == b.block[d] &&
           (a.count[d] == 1 || a.stride[d] == b.stride[d]);
}

bool holds(const Slot& a, const Slot& b) {
    for (uint32_t d = 0; d < a.rank; ++d) {
        const bool within = a.count[d] == 1 && b.start[d] >= a.start[d] && b.end(d) <= a.end(d);
        if (!within && !same_in(a, b, d)) return false;
    }
    return true;
}

/// Takes `b` into `a` where both differ in one dimension only, and there either touch or go on in
/// equal steps.
bool join(Slot& a, const Slot& b, bool steps) {
    uint32_t differs = a.rank;
    for (uint32_t d = 0; d < a.rank; ++d) {
        if (same_in(a, b, d)) continue;
        if (differs != a.rank) return false;
        differs = d;
    }
    if (differs == a.rank) return true;
    const uint32_t d = differs;
    if (a.count[d] == 1 && b.count[d] == 1 && b.start[d] <= a.end(d) && a.start[d] <= b.end(d)) {
        const uint64_t end = a.end(d) > b.end(d) ? a.end(d) : b.end(d);
        a.start[d] = a.start[d] < b.start[d] ? a.start[d] : b.start[d];
        a.block[d] = end - a.start[d];
        return true;
    }
    if (!steps || a.block[d] != b.block[d] || b.count[d] != 1 || b.start[d] < a.end(d)) {
        return false;
    }
    if (a.count[d] == 1) {
        a.stride[d] = b.start[d] - a.start[d];
    } else if (b.start[d] != a.start[d] + a.count[d] * a.stride[d]) {
        return false;
    }
    ++a.count[d];
    return true;
}

void copy(Slot& to, const Slot& from) {
    memcpy(to.start, from.start, 4 * sizeof(uint64_t) * from.rank);
}

/// Room for one more; moves to a larger record, up to the bound.
bool make_room(Track& track, Writer& writer) {
    uint32_t capacity = 2;
    uint32_t used = 0;
    if (track.places != 0) {
        const auto& old = writer.at<spool::PlacesRecord>(track.places);
        if (old.used < old.capacity) return true;
        if (old.capacity >= most_places) return false;
        capacity = old.capacity * 4 < most_places ? old.capacity * 4 : most_places;
        used = old.used;
    }
    const uint64_t offset = writer.add(
        spool::kind_places, sizeof(spool::PlacesRecord) + static_cast<uint64_t>(capacity) * 4 *
                                                              track.rank * sizeof(uint64_t));
    if (offset == 0) return false;
    auto& record = writer.at<spool::PlacesRecord>(offset);
    record.transfers = track.offset;
    record.rank = track.rank;
    record.capacity = capacity;
    if (used > 0) {
        auto& old = writer.at<spool::PlacesRecord>(track.places);
        memcpy(&record + 1, &old + 1, used * 4UL * track.rank * sizeof(uint64_t));
        record.used = used;
        old.head.kind = spool::kind_dead;
    }
    track.places = offset;
    return true;
}

/// A place that has grown may now touch another one.
void settle(Track& track, Writer& writer, uint32_t grown) {
    auto& record = writer.at<spool::PlacesRecord>(track.places);
    Slot one = slot(writer, track.places, grown, track.rank);
    for (uint32_t number = 0; number < record.used; ++number) {
        if (number == grown) continue;
        Slot other = slot(writer, track.places, number, track.rank);
        if (!holds(other, one) && !join(other, one, false)) continue;
        const Slot last = slot(writer, track.places, record.used - 1, track.rank);
        if (grown != record.used - 1) copy(one, last);
        --record.used;
        return;
    }
}

/// Blocks in one dimension.
struct Row {
    uint64_t start;
    uint64_t stride;
    uint64_t count;
    uint64_t block;
};

/// Whether an element of [from, to) is in a block of `row`.
bool has_any(const Row& row, uint64_t from, uint64_t to) {
    if (to <= row.start) return false;
    const uint64_t stride = row.count > 1 && row.stride > 0 ? row.stride : 1;
    const uint64_t first = from > row.start ? (from - row.start) / stride : 0;
    for (uint64_t number = first; number <= first + 1 && number < row.count; ++number) {
        const uint64_t start = row.start + number * stride;
        if (start < to && from < start + row.block) return true;
    }
    if (row.count > 1) return false;
    return row.start < to && from < row.start + row.block;
}

/// 0 no, 1 yes, 2 too many blocks to say.
int rows_meet(const Row& few, const Row& many) {
    constexpr uint64_t most = 1024;
    for (uint64_t number = 0; number < few.count && number < most; ++number) {
        const uint64_t start = few.start + number * few.stride;
        if (has_any(many, start, start + few.block)) return 1;
    }
    return few.count > most ? 2 : 0;
}

/// Transfers whose place is not known.
uint64_t lost(const spool::TransfersRecord& record) {
    return record.places_not_kept + record.places_approximate;
}

/// Whether one place is all of `dims`, or there is nothing to touch.
bool is_whole(Writer& writer, const Track& track, const uint64_t* dims) {
    for (uint32_t d = 0; d < track.rank; ++d)
        if (dims[d] == 0) return true;
    const uint32_t used = track.places != 0 ? writer.at<spool::PlacesRecord>(track.places).used : 0;
    for (uint32_t number = 0; number < used; ++number) {
        const Slot known = slot(writer, track.places, number, track.rank);
        uint32_t d = 0;
        while (d < track.rank && known.count[d] == 1 && known.start[d] == 0 &&
               known.block[d] >= dims[d])
            ++d;
        if (d == track.rank) return true;
    }
    return false;
}

bool same_places(Writer& writer, uint64_t one, uint64_t other, uint32_t rank) {
    const auto& a = writer.at<spool::PlacesRecord>(one);
    const auto& b = writer.at<spool::PlacesRecord>(other);
    return a.used == b.used && memcmp(&a + 1, &b + 1, a.used * 4UL * rank * sizeof(uint64_t)) == 0;
}

/// False: nothing of it lies within. `exact` becomes false where a block in the middle of a row of
/// them is cut.
bool cut_slot(Slot& at, const uint64_t* dims, bool& exact) {
    for (uint32_t d = 0; d < at.rank; ++d) {
        if (at.start[d] >= dims[d]) return false;
        if (at.end(d) <= dims[d]) continue;
        if (at.count[d] == 1) {
            at.block[d] = dims[d] - at.start[d];
            continue;
        }
        at.count[d] = (dims[d] - at.start[d] + at.stride[d] - 1) / at.stride[d];
        if (at.end(d) <= dims[d]) continue;
        exact = exact && at.count[d] == 1;
        if (at.count[d] == 1)
            at.block[d] = dims[d] - at.start[d];
        else
            --at.count[d];
    }
    return true;
}

}  // namespace

void end_life(Track& track, Writer& writer, const uint64_t* dims, bool same_dims) {
    auto& transfers = writer.at<spool::TransfersRecord>(track.offset);
    if (transfers.lives_before < UINT16_MAX) ++transfers.lives_before;
    const bool known = lost(transfers) == track.lost;
    track.lost = lost(transfers);
    auto* now = track.places != 0 ? &writer.at<spool::PlacesRecord>(track.places) : nullptr;
    if (!same_dims && track.earlier != 0) transfers.uneven = 1;
    if (!is_whole(writer, track, dims)) {
        const bool comparable = now != nullptr && now->used > 0 && known && same_dims;
        if (comparable && track.earlier == 0) {
            now->earlier = 1;
            track.earlier = track.places;
            track.places = 0;
            return;
        }
        if (!comparable || !same_places(writer, track.places, track.earlier, track.rank))
            transfers.uneven = 1;
    }
    if (now != nullptr) now->used = 0;
}

void begin_late(Track& track, Writer& writer, uint32_t lives) {
    auto& transfers = writer.at<spool::TransfersRecord>(track.offset);
    transfers.lives_before = static_cast<uint16_t>(lives < UINT16_MAX ? lives : UINT16_MAX);
    transfers.uneven = 1;
}

void cut(Track& track, Writer& writer, const uint64_t* dims) {
    if (track.places == 0) return;
    auto& record = writer.at<spool::PlacesRecord>(track.places);
    bool exact = true;
    for (uint32_t number = record.used; number-- > 0;) {
        Slot at = slot(writer, track.places, number, track.rank);
        if (cut_slot(at, dims, exact)) continue;
        --record.used;
        if (number != record.used) copy(at, slot(writer, track.places, record.used, track.rank));
    }
    if (!exact) ++writer.at<spool::TransfersRecord>(track.offset).places_not_kept;
}

void cover(Track& track, Writer& writer, const ElementSet& place) {
    auto& transfers = writer.at<spool::TransfersRecord>(track.offset);
    if (!place.known || place.rank != track.rank) {
        ++transfers.places_approximate;
        return;
    }
    uint64_t numbers[4 * most_dimensions];
    Slot added(numbers, place.rank);
    for (uint32_t d = 0; d < place.rank; ++d) {
        const bool joined = place.count[d] > 1 && place.stride[d] == place.block[d];
        added.start[d] = place.start[d];
        added.count[d] = joined ? 1 : place.count[d];
        added.block[d] = joined ? place.count[d] * place.block[d] : place.block[d];
        added.stride[d] = added.count[d] == 1 ? 1 : place.stride[d];
    }
    const uint32_t used = track.places != 0 ? writer.at<spool::PlacesRecord>(track.places).used : 0;
    for (uint32_t number = used; number-- > 0;) {
        Slot known = slot(writer, track.places, number, track.rank);
        if (holds(known, added)) return;
        if (join(known, added, number == used - 1)) {
            settle(track, writer, number);
            return;
        }
    }
    if (!make_room(track, writer)) {
        ++transfers.places_not_kept;
        return;
    }
    auto& record = writer.at<spool::PlacesRecord>(track.places);
    Slot fresh = slot(writer, track.places, record.used, track.rank);
    copy(fresh, added);
    ++record.used;
}

int meets(const Track& written, Writer& writer, const ElementSet& place) {
    if (written.offset == 0) return 0;
    if (written.rank != place.rank) return place.known ? 0 : 2;
    const auto& transfers = writer.at<spool::TransfersRecord>(written.offset);
    int answer = lost(transfers) > written.lost ? 2 : 0;
    if (written.places == 0) return answer;
    const uint32_t used = writer.at<spool::PlacesRecord>(written.places).used;
    for (uint32_t number = 0; number < used; ++number) {
        const Slot known = slot(writer, written.places, number, written.rank);
        // Both are products over the dimensions: they meet where they do in each of them.
        int both = place.known ? 1 : 2;
        for (uint32_t d = 0; d < place.rank && both != 0; ++d) {
            const Row a{known.start[d], known.stride[d], known.count[d], known.block[d]};
            const Row b{place.start[d], place.stride[d], place.count[d], place.block[d]};
            const int here = a.count <= b.count ? rows_meet(a, b) : rows_meet(b, a);
            both = here == 0 ? 0 : (here > both ? here : both);
        }
        if (both == 1) return 1;
        if (both == 2) answer = 2;
    }
    return answer;
}

}  // namespace tailrace::hooks::vol
