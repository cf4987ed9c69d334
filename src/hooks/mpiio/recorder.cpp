// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/recorder.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/common/steps.hpp"

namespace tailrace::hooks {

const spool::Hook session::hook = spool::hook_mpiio;

namespace mpiio {
namespace {

using session::Turn;
using session::widen;
using session::writer;
using spool::MpiioRecord;

constexpr unsigned buckets = 256;
constexpr unsigned most_hints = 64;  ///< of one file, given and in force
constexpr unsigned most_views = 8;
/// Calls through views with gaps whose place is found, of an open file: MPI libraries walk through
/// all pieces of a view for that.
constexpr unsigned most_mapped = 64;

/// An open file. Entries of closed ones are used again.
struct Open {
    Open* next;
    Handle handle;
    FileEntry* file;  ///< nullptr: free
    Window window;
    bool irregular;   ///< the view has no constant step
    unsigned mapped;  ///< places that were found through a view with gaps
    int64_t append_at;
};
Open* table[buckets];

Open*& bucket(Handle handle) { return table[(handle ^ (handle >> 7) ^ (handle >> 17)) % buckets]; }

Open* find(Handle handle) {
    for (Open* open = bucket(handle); open != nullptr; open = open->next) {
        if (open->file != nullptr && open->handle == handle) return open;
    }
    return nullptr;
}

void remember(Handle handle, FileEntry* file) {
    Open* free = find(handle);
    for (Open* open = bucket(handle); open != nullptr && free == nullptr; open = open->next) {
        if (open->file == nullptr) free = open;
    }
    if (free == nullptr) {
        free = static_cast<Open*>(calloc(1, sizeof(Open)));
        if (free == nullptr) return;
        free->next = bucket(handle);
        bucket(handle) = free;
    }
    free->handle = handle;
    free->file = file;
    free->window = {true, false, 0, 1};
    free->irregular = false;
    free->mapped = 0;
}

MpiioRecord* record_of(FileEntry* file) {
    return files::layer_of<MpiioRecord>(file, spool::kind_mpiio);
}

/// An open file and its record; nullptr: there is none.
struct Found {
    Open* open;
    MpiioRecord* record;
};

/// Counts where there is no record.
Found found(Handle handle) {
    Open* open = find(handle);
    MpiioRecord* record = open != nullptr ? record_of(open->file) : nullptr;
    if (record == nullptr) writer().dropped(spool::kind_other);
    return {open, record};
}

int64_t length(Took took) { return took.end_ns - took.start_ns; }

/// Looks through a chain of records of a file, the newest first. They are few.
template <typename Record, typename Same>
Record* find_record(uint64_t newest, unsigned& count, Same&& same) {
    for (uint64_t offset = newest; offset != 0; ++count) {
        auto& record = writer().at<Record>(offset);
        if (same(record)) return &record;
        offset = record.previous;
    }
    return nullptr;
}

/// A new record at the head of a chain; nullptr: no room.
template <typename Record>
Record* chained(uint64_t& newest, uint64_t of, spool::Kind kind, uint64_t more_bytes) {
    const uint64_t offset = writer().add(kind, sizeof(Record) + more_bytes);
    if (offset == 0) return nullptr;
    auto& record = writer().at<Record>(offset);
    record.of = of;
    record.previous = newest;
    newest = offset;
    return &record;
}

void keep_hint(MpiioRecord& of, const Hint& hint) {
    const size_t key_bytes = strlen(hint.key);
    const size_t value_bytes = strlen(hint.value);
    unsigned count = 0;
    uint32_t latest = 0;  // of this key
    auto* known = find_record<spool::HintRecord>(of.last_hint, count, [&](const auto& record) {
        const char* text = reinterpret_cast<const char*>(&record + 1);
        if (record.in_force != (hint.in_force ? 1U : 0U) || record.key_bytes != key_bytes ||
            memcmp(text, hint.key, key_bytes) != 0) {
            return false;
        }
        if (record.turn > latest) latest = record.turn;
        return record.value_bytes == value_bytes &&
               memcmp(text + key_bytes, hint.value, value_bytes) == 0;
    });
    if (known != nullptr) {  // again, maybe after others: what comes before it counts too
        for (uint64_t offset = known->previous; offset != 0;) {
            const auto& record = writer().at<spool::HintRecord>(offset);
            if (record.turn > latest) latest = record.turn;
            offset = record.previous;
        }
        if (known->turn < latest) known->turn = latest + 1;
        return;
    }
    if (count >= most_hints) return writer().dropped(spool::kind_hint);
    auto* record = chained<spool::HintRecord>(of.last_hint, of.file, spool::kind_hint,
                                              key_bytes + value_bytes);
    if (record == nullptr) return;
    record->in_force = hint.in_force ? 1 : 0;
    record->turn = latest + 1;
    record->key_bytes = static_cast<uint32_t>(key_bytes);
    record->value_bytes = static_cast<uint32_t>(value_bytes);
    char* text = reinterpret_cast<char*>(record + 1);
    memcpy(text, hint.key, key_bytes);
    memcpy(text + key_bytes, hint.value, value_bytes);
}

void keep_view(MpiioRecord& of, const View& view) {
    unsigned count = 0;
    auto* known = find_record<spool::ViewRecord>(of.last_view, count, [&](const auto& record) {
        return record.filetype == view.filetype && record.etype_bytes == view.etype_bytes &&
               record.filetype_bytes == view.filetype_bytes &&
               record.filetype_extent == view.filetype_extent;
    });
    if (known == nullptr) {
        if (count >= most_views) return;  // some kinds are described; `views` counts all calls
        known = chained<spool::ViewRecord>(of.last_view, of.file, spool::kind_view, 0);
        if (known == nullptr) return;
        known->first_displacement = view.displacement;
        known->etype_bytes = view.etype_bytes;
        known->filetype_bytes = view.filetype_bytes;
        known->filetype_extent = view.filetype_extent;
        known->filetype = view.filetype;
    }
    ++known->calls;
}

bool is_irregular(spool::FileType type) {
    return type == spool::filetype_indexed || type == spool::filetype_struct;
}

void keep_place(Open& open, spool::MpiioTransfersRecord& to, const CallRange& place,
                uint64_t bytes) {
    steps::follow(to.places, place.start, place.end);
    to.placed_bytes += bytes;
    if (!open.window.gaps) return;
    if (place.end - place.start > bytes) {
        ++to.in_pieces;
        if (open.irregular) ++to.irregular_pieces;
    }
    if (++open.mapped >= most_mapped) open.window.wanted = false;
}

/// Where transfers go from now on.
void take_window(Open& open, const View& view) {
    const bool gaps = view.filetype_bytes != view.filetype_extent;
    const bool sane = view.native && view.displacement >= 0 && view.etype_bytes > 0;
    open.window = {sane && (!gaps || open.mapped < most_mapped), gaps,
                   static_cast<uint64_t>(sane ? view.displacement : 0), view.etype_bytes};
    open.irregular = is_irregular(view.filetype);
}

}  // namespace

void opened(Handle handle, const Opened& facts, Took took) {
    const Turn turn;
    if (!turn) return;
    FileEntry* file = files::of_name(facts.name);
    MpiioRecord* record = record_of(file);
    if (record == nullptr) return writer().dropped(spool::kind_other);
    files::keep_name(*file, facts.name);
    remember(handle, file);
    if (Open* open = find(handle); open != nullptr) open->append_at = facts.append_at;
    if (facts.create) ++record->create_opens;
    if (facts.append_at >= 0) ++record->append_opens;
    record->opened_by |= facts.by;
    ++(facts.communicator_size > 1 ? record->collective_opens : record->independent_opens);
    if (facts.communicator_size > record->communicator_size) {
        record->communicator_size = facts.communicator_size;
    }
    widen(record->open, took);
    record->metadata_ns += length(took);
    for (unsigned number = 0; number < facts.hint_count; ++number) {
        keep_hint(*record, facts.hints[number]);
    }
}

void closed(Handle handle, Took took) {
    const Turn turn;
    if (!turn) return;
    const auto [open, record] = found(handle);
    if (record == nullptr) return;
    ++record->closes;
    widen(record->close, took);
    record->metadata_ns += length(took);
    record->classic_bytes = 0;
    open->file = nullptr;
}

bool wants_size(Handle handle) {
    const Turn turn;
    const Open* open = turn ? find(handle) : nullptr;
    const MpiioRecord* record = open != nullptr ? record_of(open->file) : nullptr;
    if (record == nullptr) return false;
    for (const auto& side : record->transfers)
        if (side.not_placed > 0) return true;
    return record->transfers[spool::reads].places.end_byte >
           record->transfers[spool::writes].places.end_byte;
}

void sized(Handle handle, uint64_t bytes) {
    const Turn turn;
    MpiioRecord* record = turn ? found(handle).record : nullptr;
    if (record == nullptr) return;
    if (bytes > record->size) record->size = bytes;
    record->has_size = 1;
}

Window window_of(Handle handle) {
    const Turn turn;
    const Open* open = turn ? find(handle) : nullptr;
    return open != nullptr ? open->window : Window{};
}

void moved(Handle handle, const Moved& what, Took took) {
    const Turn turn;
    const auto [open, record] = turn ? found(handle) : Found{};
    if (record == nullptr) return;
    const auto [direction, how, bytes, place] = what;
    spool::MpiioTransfersRecord& to = record->transfers[direction];
    if (place.known) keep_place(*open, to, place, bytes);
    // At its own place in a file that was empty a call may write anywhere.
    const bool behind = place.known && open->append_at >= 0 &&
                        place.start >= static_cast<uint64_t>(open->append_at) &&
                        (open->append_at > 0 || (how & explicit_offset) == 0);
    if (direction == spool::writes && bytes > 0 && behind) ++record->appended;
    if (!place.known && bytes > 0) ++to.not_placed;
    uint32_t kind = spool::call_independent;
    if ((how & nonblocking) != 0) {
        kind = spool::call_nonblocking;
    } else if ((how & split) != 0) {
        kind = spool::call_split;
    } else if ((how & collective) != 0) {
        kind = spool::call_collective;
    }
    ++to.counts[kind];
    if ((how & explicit_offset) != 0) ++to.counts[spool::call_explicit_offset];
    if ((how & shared) != 0) ++to.counts[spool::call_shared];
    if ((how & ordered) != 0) ++to.counts[spool::call_ordered];
    if ((how & nonblocking) != 0 && (how & collective) != 0) {
        ++to.counts[spool::call_nonblocking_collective];
    }
    to.bytes += bytes;
    to.elapsed_ns += length(took);
    widen(to.active, took);
    files::count(to.sizes, bytes);
    if (record->last_direction != 0 && record->last_direction != direction + 1U) {
        ++record->switches;
    }
    record->last_direction = direction + 1U;
}

void classic_header(Handle handle, uint64_t bytes) {
    const Turn turn;
    MpiioRecord* record = turn ? found(handle).record : nullptr;
    if (record == nullptr) return;
    if (record->classic_bytes == 0) {
        uint64_t calls = 0;
        for (const uint64_t count : record->transfers[spool::reads].counts) calls += count;
        if (calls == 0) ++record->classic_creates;
    } else if (bytes > record->classic_bytes) {
        ++record->classic_growths;
    }
    record->classic_bytes = bytes;
}

void ended(Handle handle, spool::Direction direction, Took took) {
    const Turn turn;
    MpiioRecord* record = turn ? found(handle).record : nullptr;
    if (record == nullptr) return;
    record->transfers[direction].elapsed_ns += length(took);
    widen(record->transfers[direction].active, took);
}

void failed(Handle handle, spool::Direction direction, Took took) {
    const Turn turn;
    const Open* open = turn ? find(handle) : nullptr;
    MpiioRecord* record = open != nullptr ? record_of(open->file) : nullptr;
    if (record == nullptr) return;
    ++record->transfers[direction].failed;
    record->transfers[direction].elapsed_ns += length(took);
}

void viewed(Handle handle, const View& view, Took took) {
    const Turn turn;
    const auto [open, record] = turn ? found(handle) : Found{};
    if (record == nullptr) return;
    ++record->views;
    record->metadata_ns += length(took);
    keep_view(*record, view);
    take_window(*open, view);
}

void other(Handle handle, Other what, Took took) {
    const Turn turn;
    MpiioRecord* record = turn ? found(handle).record : nullptr;
    if (record == nullptr) return;
    if (what == Other::sync) ++record->syncs;
    if (what == Other::set_size) ++record->set_sizes;
    if (what == Other::preallocate) ++record->preallocations;
    record->metadata_ns += length(took);
}

void hinted(Handle handle, const Hint* hints, unsigned count, Took took) {
    const Turn turn;
    MpiioRecord* record = turn ? found(handle).record : nullptr;
    if (record == nullptr) return;
    record->metadata_ns += length(took);
    for (unsigned number = 0; number < count; ++number) keep_hint(*record, hints[number]);
}

}  // namespace mpiio
}  // namespace tailrace::hooks
