// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/record/track.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol {
namespace {

using intent::spool::Writer;

uint64_t length_of(const ElementSet& place, uint32_t d) {
    return (place.count[d] - 1) * place.stride[d] + place.block[d];
}

bool fills_its_box(const ElementSet& place, uint64_t elements) {
    if (place.known) return true;
    uint64_t places = 1;
    for (uint32_t d = 0; d < place.rank; ++d) places *= length_of(place, d);
    return places <= elements;
}

/// Where the transfer before ended this one begins: one dimension goes on by the length of the one
/// before, or a slower one does and the faster ones begin anew.
bool is_next(const Track& track, const ElementSet& place, const uint64_t* dims) {
    uint32_t moved = place.rank;
    for (uint32_t d = 0; d < place.rank; ++d) {
        if (place.start[d] == track.start[d]) continue;
        if (moved == place.rank) {
            if (place.start[d] != track.start[d] + track.length[d]) return false;
            moved = d;
        } else if (place.start[d] != 0 || track.start[d] + track.length[d] != dims[d]) {
            return false;
        }
    }
    return moved < place.rank;
}

bool in_same_chunk(const Track& track, const ElementSet& place, const uint64_t* chunk) {
    for (uint32_t d = 0; d < place.rank; ++d) {
        if (place.start[d] == track.start[d] || chunk[d] == 0) continue;
        if (place.start[d] / chunk[d] != track.start[d] / chunk[d]) return false;
    }
    return true;
}

bool same_step(const Track& track, const ElementSet& place) {
    for (uint32_t d = 0; d < place.rank; ++d) {
        if (track.steps[d] != static_cast<int64_t>(place.start[d] - track.start[d])) return false;
    }
    return true;
}

uint64_t* numbers_behind(spool::TransfersRecord& record) {
    return reinterpret_cast<uint64_t*>(&record + 1);
}

uint64_t hash_of(const ElementSet& place, uint64_t elements) {
    uint64_t hash = recorder::mixed(place.selection, place.rank);
    if (!place.known) return recorder::mixed(hash, elements);
    for (uint32_t d = 0; d < place.rank; ++d) {
        hash = recorder::mixed(hash, place.count[d]);
        hash = recorder::mixed(hash, place.block[d]);
        hash = recorder::mixed(hash, place.count[d] > 1 ? place.stride[d] : 1);
    }
    return hash;
}

void fill_shape(Writer& writer, uint64_t offset, const Track& track, const ElementSet& place,
                uint64_t bytes) {
    auto& record = writer.at<spool::ShapeRecord>(offset);
    record.transfers = track.offset;
    record.selection = place.selection;
    record.rank = track.rank;
    record.calls = 1;
    record.call_bytes = bytes;
    auto* values = reinterpret_cast<uint64_t*>(&record + 1);
    for (uint32_t d = 0; d < track.rank; ++d) {
        const bool known = place.known && d < place.rank;
        values[d] = known ? (place.count[d] > 1 ? place.stride[d] : 1) : 0;
        values[track.rank + d] = known ? place.count[d] : 0;
        values[2 * track.rank + d] = known ? place.block[d] : 0;
    }
}

}  // namespace

Track* new_track(uint32_t rank) {
    auto* made = static_cast<Track*>(calloc(1, sizeof(Track) + 3 * sizeof(uint64_t) * rank));
    if (made == nullptr) return nullptr;
    made->rank = rank;
    made->start = reinterpret_cast<uint64_t*>(made + 1);
    made->length = made->start + rank;
    made->steps = reinterpret_cast<int64_t*>(made->length + rank);
    return made;
}

bool begin(Track& track, Writer& writer, uint32_t generation, uint64_t dataset,
           spool::Direction direction) {
    if (track.offset != 0 && track.generation == generation) return true;
    track.generation = generation;
    track.shapes = 0;
    track.places = track.earlier = track.lost = 0;
    track.any = track.step = false;
    track.offset = writer.add(spool::kind_transfers,
                              sizeof(spool::TransfersRecord) + 3 * sizeof(uint64_t) * track.rank);
    if (track.offset == 0) return false;
    auto& record = writer.at<spool::TransfersRecord>(track.offset);
    record.dataset = dataset;
    record.direction = direction;
    record.rank = track.rank;
    return true;
}

void follow(Track& track, Writer& writer, const ElementSet& place, uint64_t elements,
            const uint64_t* dims, const uint64_t* chunk) {
    auto& record = writer.at<spool::TransfersRecord>(track.offset);
    if (place.rank != track.rank) return;
    if (track.any && chunk != nullptr && !in_same_chunk(track, place, chunk))
        ++record.chunk_changes;
    uint64_t* numbers = numbers_behind(record);
    uint64_t hash = record.order_hash;
    for (uint32_t d = 0; d < place.rank; ++d) hash = recorder::mixed(hash, place.start[d]);
    record.order_hash = hash;
    if (!track.any) {
        for (uint32_t d = 0; d < place.rank; ++d) {
            numbers[d] = place.start[d];
            numbers[place.rank + d] = length_of(place, d);
        }
        record.first_known = 1;
    } else if (memcmp(place.start, track.start, place.rank * sizeof(uint64_t)) == 0) {
        // Of points only the box round them is known, which may be the same for others.
        ++(fills_its_box(place, elements) ? record.repeated : record.random);
    } else {
        if (is_next(track, place, dims)) {
            ++record.sequential;
        } else if (!track.step || same_step(track, place)) {
            ++record.strided;
            for (uint32_t d = 0; d < place.rank; ++d) {
                numbers[2 * place.rank + d] = place.start[d] - track.start[d];
            }
        } else {
            ++record.random;
        }
        for (uint32_t d = 0; d < place.rank; ++d) {
            track.steps[d] = static_cast<int64_t>(place.start[d] - track.start[d]);
        }
        track.step = true;
    }
    for (uint32_t d = 0; d < place.rank; ++d) {
        track.start[d] = place.start[d];
        track.length[d] = length_of(place, d);
    }
    track.any = true;
}

void count_shape(Track& track, Writer& writer, const ElementSet& place, uint64_t elements,
                 uint64_t bytes) {
    const uint64_t hash = hash_of(place, elements);
    uint32_t least = 0;
    for (uint32_t number = 0; number < track.shapes; ++number) {
        auto& record = writer.at<spool::ShapeRecord>(track.shape[number].offset);
        if (track.shape[number].hash == hash) {
            ++record.calls;
            return;
        }
        if (record.calls < writer.at<spool::ShapeRecord>(track.shape[least].offset).calls)
            least = number;
    }
    auto& transfers = writer.at<spool::TransfersRecord>(track.offset);
    if (track.shapes < most_shapes) {
        const uint64_t offset = writer.add(
            spool::kind_shape, sizeof(spool::ShapeRecord) + 3 * sizeof(uint64_t) * track.rank);
        if (offset == 0) {
            ++transfers.other_shapes;
            return;
        }
        fill_shape(writer, offset, track, place, bytes);
        track.shape[track.shapes++] = {hash, offset};
        return;
    }
    // Many shapes: now and then the rarest one makes room, so that one which is frequent from here
    // on is kept.
    if (++transfers.other_shapes % most_shapes != 0) return;
    transfers.other_shapes += writer.at<spool::ShapeRecord>(track.shape[least].offset).calls - 1;
    fill_shape(writer, track.shape[least].offset, track, place, bytes);
    track.shape[least].hash = hash;
}

}  // namespace tailrace::hooks::vol
