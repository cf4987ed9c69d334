// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/observe/transfers.hpp"

#include <stdlib.h>

#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr int mode_none = 0;
constexpr int mode_chunk_independent = 1;
constexpr int mode_chunk_collective = 2;
constexpr int mode_chunk_mixed = 3;
constexpr int mode_collective = 4;
constexpr unsigned deepest_type = 32;

spool::ActualMode actual_of(int mode, uint32_t causes) {
    switch (mode) {
        case mode_none:
            return causes != 0 ? spool::actual_independent : spool::actual_none;
        case mode_chunk_independent:
            return spool::actual_independent;
        case mode_chunk_collective:
            return spool::actual_chunk_collective;
        case mode_chunk_mixed:
            return spool::actual_mixed;
        case mode_collective:
            return spool::actual_collective;
        default:
            return spool::actual_not_known;
    }
}

bool leaves_members_out(const Library& of, Id memory, Id file, unsigned depth);

/// Of one member of a compound in the file: HDF5 finds them by name.
bool leaves_member_out(const Library& of, Id memory, Id file, unsigned number, unsigned depth) {
    char* name = of.H5Tget_member_name(file, number);
    const int at = name != nullptr ? of.H5Tget_member_index(memory, name) : -1;
    if (name != nullptr) of.H5free_memory(name);
    if (at < 0) return true;
    const Id here = of.H5Tget_member_type(memory, static_cast<unsigned>(at));
    const Id there = of.H5Tget_member_type(file, number);
    const bool found = here < 0 || there < 0 || leaves_members_out(of, here, there, depth + 1);
    if (here >= 0) of.H5Tclose(here);
    if (there >= 0) of.H5Tclose(there);
    return found;
}

/// Whether elements in memory lack members that those in the file have.
bool leaves_members_out(const Library& of, Id memory, Id file, unsigned depth) {
    const int kind = of.H5Tget_class(file);
    if (depth > deepest_type) return true;
    if (kind == class_array || kind == class_vlen) {
        const Id here = of.H5Tget_super(memory);
        const Id there = of.H5Tget_super(file);
        const bool found = here < 0 || there < 0 || leaves_members_out(of, here, there, depth + 1);
        if (here >= 0) of.H5Tclose(here);
        if (there >= 0) of.H5Tclose(there);
        return found;
    }
    if (kind != class_compound) return false;
    const int members = of.H5Tget_nmembers(file);
    bool found = members < 0;
    for (int number = 0; number < members && !found; ++number)
        found = leaves_member_out(of, memory, file, static_cast<unsigned>(number), depth);
    return found;
}

}  // namespace

Transfers::Transfers(const Asked& asked, Id list, spool::Direction direction)
    : x_asked(asked), x_list(list), x_direction(direction), x_inner(x_few) {
    const size_t count = asked.count;
    void** objects = asked.objects;
    if (count > usual) x_inner = static_cast<void**>(malloc(count * sizeof(void*)));
    if (x_inner == nullptr || count == 0) {
        x_inner = nullptr;
        return;
    }
    for (size_t number = 0; number < count; ++number)
        x_inner[number] = object_of(objects[number]).inner;
    if (object_of(objects[0]).file == nullptr) return;
    settle_pending(library());
    x_collective = vol::collective(library(), list);
    for (size_t number = 0; number < count; ++number) {
        Object& dataset = object_of(objects[number]);
        find_dataset(dataset);
        recorder::begun(dataset.dataset, direction, x_collective);
    }
    x_start = recorder::now();
}

Transfers::~Transfers() {
    if (x_inner != x_few) free(x_inner);
}

void Transfers::done(Status status, void** request) {
    const Object& first = object_of(x_asked.objects[0]);
    if (first.file != nullptr) record(status, {x_start, recorder::now()});
    wrap_request(first.under, request);
}

void Transfers::record(Status status, Took took) {
    ElementSet place;
    for (size_t number = 0; number < x_asked.count; ++number) {
        const Object& dataset = object_of(x_asked.objects[number]);
        Transfer transfer;
        transfer.direction = x_direction;
        transfer.place = &place;
        transfer.failed = status < 0;
        transfer.collective = x_collective;
        transfer.multi = x_asked.count > 1;
        // The time of a call about several datasets counts once, under the first.
        transfer.took = number == 0 ? took : Took{took.end_ns, took.end_ns};
        if (status >= 0) {
            transfer.elements =
                describe_place(library(), dataset.dataset, x_asked.memory_spaces[number],
                               x_asked.file_spaces[number], place);
            if (transfer.elements > 0)
                transfer.in_part = compare_types(dataset, x_asked.memory_types[number]);
        }
        recorder::transfer(dataset.dataset, transfer);
        note_settings(dataset);
    }
    if (x_collective && status >= 0) remember();
}

/// Once for each dataset and direction, since a conversion is seen by nothing else; and at each
/// write where the types have members.
/// @return whether the write leaves members as they are
bool Transfers::compare_types(const Object& dataset, Id memory_type) const {
    const bool wanted = recorder::types_wanted(dataset.dataset, x_direction);
    const bool each = x_direction == spool::writes && recorder::may_write_in_part(dataset.dataset);
    if (!wanted && !each) return false;
    const Library& of = dataset.library();
    const Quiet quiet(of);
    const Id type = ask_dataset(dataset, dataset.inner, dataset_get_type);
    if (type < 0) return false;
    const int equal = of.H5Tequal(memory_type, type);
    const bool in_part = each && equal == 0 && leaves_members_out(of, memory_type, type, 0);
    of.H5Tclose(type);
    if (wanted) recorder::types_compared(dataset.dataset, x_direction, equal == 0);
    return in_part;
}

/// The first list of the program's own in this direction stands for all.
void Transfers::note_settings(const Object& dataset) const {
    if (x_list == library().default_transfer ||
        !recorder::transfer_settings_wanted(dataset.dataset, x_direction))
        return;
    const Quiet quiet(library());
    Settings settings;
    transfer_settings(library(), x_list, settings);
    recorder::transfer_settings(dataset.dataset, x_direction, settings);
}

void Transfers::remember() {
    Library& of = library();
    if (of.H5Pget_mpio_actual_io_mode == nullptr) return;
    if (of.H5Iinc_ref(x_list) < 0) return;
    of.pending.list = x_list;
    of.pending.written = x_direction == spool::writes;
    of.pending.count = 0;
    for (size_t number = 0; number < x_asked.count; ++number) {
        if (of.pending.count == sizeof of.pending.datasets / sizeof of.pending.datasets[0]) break;
        of.pending.datasets[of.pending.count++] = object_of(x_asked.objects[number]).dataset;
    }
}

void settle_pending(Library& library) {
    Pending& pending = library.pending;
    if (pending.list < 0) return;
    int mode = -1;
    uint32_t local = 0;
    uint32_t global = 0;
    library.H5Pget_mpio_actual_io_mode(pending.list, &mode);
    if (library.H5Pget_mpio_no_collective_cause != nullptr) {
        library.H5Pget_mpio_no_collective_cause(pending.list, &local, &global);
    }
    const uint32_t causes = local | global;
    for (unsigned number = 0; number < pending.count; ++number) {
        recorder::done_as(pending.datasets[number], pending.written ? spool::writes : spool::reads,
                          actual_of(mode, causes), mode == mode_none ? causes : 0);
    }
    library.H5Idec_ref(pending.list);
    pending.list = invalid_id;
}

}  // namespace tailrace::hooks::vol
