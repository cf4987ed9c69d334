// SPDX-License-Identifier: Apache-2.0
// Reads and writes of datasets.
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

Track* track_of(DatasetEntry& entry, spool::Direction direction) {
    Track*& track = entry.track[direction];
    if (record_of(&entry) == nullptr) return nullptr;
    if (track == nullptr) track = new_track(entry.rank);
    if (track == nullptr) return nullptr;
    const bool fresh = track->offset == 0 || track->generation != generation();
    if (!begin(*track, writer(), generation(), entry.offset, direction)) return nullptr;
    if (fresh && entry.lives > 0) begin_late(*track, writer(), entry.lives);
    return track;
}

void count_read_after_write(DatasetEntry& entry, const ElementSet& place,
                            spool::TransfersRecord& record) {
    const Track* written = entry.track[spool::writes];
    if (written == nullptr || written->generation != generation()) return;
    const int answer = meets(*written, writer(), place);
    if (answer == 1) ++record.after_own_write;
    if (answer == 2) ++record.maybe_after_own_write;
}

/// Notes once what the hook has seen of a dataset, among the settings of the program.
void note_seen(DatasetEntry& entry, bool& noted, spool::Key key, uint64_t value = 1) {
    if (noted || record_of(&entry) == nullptr) return;
    noted = true;
    Settings settings;
    settings.count = 1;
    settings.all[0] = {key, 1, 0, {value}};
    keep_settings(entry.offset, settings);
}

}  // namespace

void begun(DatasetEntry* dataset, spool::Direction direction, bool collective) {
    const Turn turn;
    if (!turn || dataset == nullptr) return;
    if (spool::FileRecord* file = record_of(dataset->file))
        count(file->transfer_order, direction * 2 + (collective ? 1 : 0), dataset->path_hash);
}

void transfer(DatasetEntry* dataset, const Transfer& from) {
    const Turn turn;
    if (!turn || dataset == nullptr) return;
    Track* track = track_of(*dataset, from.direction);
    if (track == nullptr) {
        writer().dropped(spool::kind_other);
        return;
    }
    // Before a pointer to the record is taken: places and shapes may add records, none moves.
    const uint64_t bytes = from.elements * dataset->type_bytes;
    auto& record = writer().at<spool::TransfersRecord>(track->offset);
    ++record.calls;
    record.elapsed_ns += from.took.end_ns - from.took.start_ns;
    widen(record.active, from.took);
    ++(from.collective ? record.requested_collective : record.requested_independent);
    ++(from.collective ? record.actual[spool::actual_not_known]
                       : record.actual[spool::actual_independent]);
    if (from.multi) ++record.multi;
    if (from.failed) {
        ++record.failed;
        return;
    }
    record.bytes += bytes;
    record.elements += from.elements;
    const ElementSet& place = *from.place;
    if (place.empty) {
        ++record.empty;
        return;
    }
    if (place.selection == spool::select_all && !from.in_part) ++record.whole;
    count_shape(*track, writer(), place, from.elements, bytes);
    follow(*track, writer(), place, from.elements, dataset->dims, chunk_of(*dataset));
    if (from.direction == spool::reads) count_read_after_write(*dataset, place, record);
    // A compound of which members are left out is not written yet.
    if (from.in_part)
        ++record.places_approximate;
    else
        cover(*track, writer(), place);
}

void direct_chunk(DatasetEntry* dataset, spool::Direction direction, const uint64_t* offset,
                  uint64_t bytes, Took took) {
    const Turn turn;
    if (!turn || dataset == nullptr) return;
    if (spool::FileRecord* file = record_of(dataset->file))
        count(file->transfer_order, 4U + direction, dataset->path_hash);
    Track* track = track_of(*dataset, direction);
    if (track == nullptr) return;
    auto& record = writer().at<spool::TransfersRecord>(track->offset);
    ++record.direct_calls;
    record.direct_bytes += bytes;
    widen(record.active, took);
    const ElementSet place = place_of_chunk(*dataset, offset);
    if (direction == spool::reads) count_read_after_write(*dataset, place, record);
    cover(*track, writer(), place);
}

bool types_wanted(const DatasetEntry* dataset, spool::Direction direction) {
    return dataset != nullptr && !dataset->types_compared[direction];
}

bool may_write_in_part(const DatasetEntry* dataset) {
    return dataset != nullptr && dataset->has_members;
}

void address_asked(DatasetEntry* dataset) {
    const Turn turn;
    if (turn && dataset != nullptr)
        note_seen(*dataset, dataset->address_asked, spool::key_address_asked);
}

void made_without_name(DatasetEntry* dataset) {
    const Turn turn;
    if (turn && dataset != nullptr)
        note_seen(*dataset, dataset->made_without_name, spool::key_made_without_name);
}

void types_compared(DatasetEntry* dataset, spool::Direction direction, bool differ) {
    const Turn turn;
    if (!turn || dataset == nullptr) return;
    dataset->types_compared[direction] = true;
    if (differ)
        note_seen(*dataset, dataset->types_differ[direction], spool::key_memory_type_differs,
                  uint64_t{1} << direction);
}

bool transfer_settings_wanted(const DatasetEntry* dataset, spool::Direction direction) {
    return dataset != nullptr && !dataset->settings_kept[direction];
}

void transfer_settings(DatasetEntry* dataset, spool::Direction direction,
                       const Settings& settings) {
    const Turn turn;
    dataset->settings_kept[direction] = true;
    if (turn && record_of(dataset) != nullptr) keep_settings(dataset->offset, settings);
}

void done_as(DatasetEntry* dataset, spool::Direction direction, spool::ActualMode actual,
             uint32_t causes) {
    const Turn turn;
    if (!turn || dataset == nullptr) return;
    Track* track = dataset->track[direction];
    if (track == nullptr || track->offset == 0 || track->generation != generation()) return;
    auto& record = writer().at<spool::TransfersRecord>(track->offset);
    if (record.actual[spool::actual_not_known] > 0) --record.actual[spool::actual_not_known];
    ++record.actual[actual];
    for (uint32_t bit = 0; bit < 16; ++bit) {
        if ((causes >> bit & 1U) != 0) ++record.causes[bit];
    }
}

}  // namespace tailrace::hooks::vol::recorder
