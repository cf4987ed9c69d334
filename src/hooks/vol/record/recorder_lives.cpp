// SPDX-License-Identifier: Apache-2.0
// What is known of the elements of a dataset: by chunks, and over the times it is made anew.
#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {

const uint64_t* chunk_of(DatasetEntry& entry) {
    const spool::DatasetRecord* record = record_of(&entry);
    if (record == nullptr || record->rank != entry.rank || record->chunk_rank != entry.rank)
        return nullptr;
    return reinterpret_cast<const uint64_t*>(record + 1) + 2 * uint64_t{entry.rank};
}

ElementSet place_of_chunk(DatasetEntry& entry, const uint64_t* offset) {
    ElementSet place;
    const uint64_t* chunk = chunk_of(entry);
    if (chunk == nullptr) return place;
    place.selection = spool::select_hyperslab;
    place.rank = entry.rank;
    place.known = entry.rank > 0;
    for (uint32_t d = 0; d < entry.rank; ++d) {
        if (offset[d] >= entry.dims[d]) return ElementSet{};
        const uint64_t rest = entry.dims[d] - offset[d];
        place.start[d] = offset[d];
        place.stride[d] = place.count[d] = 1;
        place.block[d] = rest < chunk[d] ? rest : chunk[d];
    }
    return place;
}

namespace {

template <typename Do>
void for_tracks(const DatasetEntry& entry, Do what) {
    for (Track* track : entry.track) {
        const bool here = track != nullptr && track->offset != 0 &&
                          track->generation == generation() && track->rank == entry.rank;
        if (here) what(*track);
    }
}

}  // namespace

void new_extent(DatasetEntry& entry, const uint64_t* dims) {
    bool shrinks = false;
    bool differs = false;
    for (uint32_t d = 0; d < entry.rank; ++d) {
        differs = differs || dims[d] != entry.dims[d];
        shrinks = shrinks || dims[d] < entry.dims[d];
    }
    if (!differs) return;
    for_tracks(entry, [&](Track& track) {
        // What was kept of the lives before lay in another extent.
        if (track.earlier != 0) writer().at<spool::TransfersRecord>(track.offset).uneven = 1;
        if (shrinks) cut(track, writer(), dims);
    });
}

void new_life(DatasetEntry& entry, const uint64_t* dims) {
    if (entry.offset == 0 || entry.generation != generation()) return;
    bool same = true;
    for (uint32_t d = 0; d < entry.rank; ++d) same = same && dims[d] == entry.dims[d];
    ++entry.lives;
    for_tracks(entry, [&](Track& track) { end_life(track, writer(), entry.dims, same); });
}

}  // namespace tailrace::hooks::vol::recorder
