// SPDX-License-Identifier: Apache-2.0
// How the transfers of one direction on one dataset follow each other: shapes, order, and which
// elements they touched, in bounded memory.
#pragma once

#include "hooks/vol/record/facts.hpp"
#include "intent/spool/writer.hpp"

namespace tailrace::hooks::vol {

constexpr uint32_t most_shapes = 16;
constexpr uint32_t most_places = 64;

/// What is kept besides the record in the spool.
struct Track {
    uint64_t offset;   ///< of its Transfers record; 0: none yet
    uint64_t places;   ///< offset of its Places record; 0: none yet
    uint64_t earlier;  ///< the same of the lives before, which were all alike; 0: none
    uint64_t lost;     ///< transfers of those lives whose place is not known
    uint32_t generation;
    uint32_t rank;
    uint32_t shapes;
    struct {
        uint64_t hash;
        uint64_t offset;
    } shape[most_shapes];
    bool any;   ///< there was a transfer before
    bool step;  ///< and one before that
    // Of the transfer before, `rank` numbers each, in memory behind this.
    uint64_t* start;
    uint64_t* length;
    int64_t* steps;
};

/// Room for `rank` dimensions; nullptr without memory.  [local]
Track* new_track(uint32_t rank);

/// Gives the track its record, where it has none in this process' spool.  [local]
/// @return false where there is no room
bool begin(Track& track, intent::spool::Writer& writer, uint32_t generation, uint64_t dataset,
           spool::Direction direction);

/// Adds a transfer of the elements of `place`, which is not empty.  [local]
/// @param elements  how many of them, where `place` is only a box round them
/// @param chunk  extents; nullptr: it has no chunks, or they are not known
void follow(Track& track, intent::spool::Writer& writer, const ElementSet& place, uint64_t elements,
            const uint64_t* dims, const uint64_t* chunk);
void count_shape(Track& track, intent::spool::Writer& writer, const ElementSet& place,
                 uint64_t elements, uint64_t bytes);
void cover(Track& track, intent::spool::Writer& writer, const ElementSet& place);

/// The dataset is made anew: what was touched was in a life that is over now. Only one of those is
/// kept, as long as all are alike.  [local]
/// @param dims  of the life that is over
/// @param same_dims  whether the next one begins with them
void end_life(Track& track, intent::spool::Writer& writer, const uint64_t* dims, bool same_dims);
/// Nothing is known of `lives` before the first transfer.  [local]
void begin_late(Track& track, intent::spool::Writer& writer, uint32_t lives);
/// What lies beyond `dims` is gone.  [local]
void cut(Track& track, intent::spool::Writer& writer, const uint64_t* dims);

/// Whether `place` meets what `written` covers: 0 no, 1 yes, 2 perhaps.  [local]
int meets(const Track& written, intent::spool::Writer& writer, const ElementSet& place);

}  // namespace tailrace::hooks::vol
