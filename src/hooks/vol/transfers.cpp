// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/transfers.hpp"

#include <stdlib.h>

namespace tailrace::hooks::vol {
namespace {

constexpr int mode_none = 0;
constexpr int mode_chunk_independent = 1;
constexpr int mode_chunk_collective = 2;
constexpr int mode_chunk_mixed = 3;
constexpr int mode_collective = 4;

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

}  // namespace

Transfers::Transfers(size_t count, void** objects, const Id* file_spaces, Id list,
                     spool::Direction direction)
    : x_count(count),
      x_objects(objects),
      x_file_spaces(file_spaces),
      x_list(list),
      x_direction(direction),
      x_inner(x_few) {
    if (count > usual) x_inner = static_cast<void**>(malloc(count * sizeof(void*)));
    if (x_inner == nullptr || count == 0) {
        x_inner = nullptr;
        return;
    }
    for (size_t number = 0; number < count; ++number)
        x_inner[number] = object_of(objects[number]).inner;
    if (object_of(objects[0]).file == nullptr) return;
    settle_pending(library());
    x_start = recorder::now();
}

Transfers::~Transfers() {
    if (x_inner != x_few) free(x_inner);
}

void Transfers::done(Status status, void** request) {
    const Object& first = object_of(x_objects[0]);
    if (first.file != nullptr) record(status, {x_start, recorder::now()});
    wrap_request(first.under, request);
}

void Transfers::record(Status status, Took took) {
    const bool collective = status >= 0 && vol::collective(library(), x_list);
    Place place;
    for (size_t number = 0; number < x_count; ++number) {
        const Object& dataset = object_of(x_objects[number]);
        Transfer transfer;
        transfer.direction = x_direction;
        transfer.place = &place;
        transfer.failed = status < 0;
        transfer.collective = collective;
        transfer.multi = x_count > 1;
        // The time of a call about several datasets counts once, under the first.
        transfer.took = number == 0 ? took : Took{took.end_ns, took.end_ns};
        if (status >= 0) {
            transfer.elements =
                describe_place(library(), dataset.dataset, x_file_spaces[number], place);
        }
        recorder::transfer(dataset.dataset, transfer);
    }
    if (collective) remember();
}

void Transfers::remember() {
    Library& of = library();
    if (of.H5Pget_mpio_actual_io_mode == nullptr) return;
    if (of.H5Iinc_ref(x_list) < 0) return;
    of.pending.list = x_list;
    of.pending.written = x_direction == spool::writes;
    of.pending.count = 0;
    for (size_t number = 0; number < x_count; ++number) {
        if (of.pending.count == sizeof of.pending.datasets / sizeof of.pending.datasets[0]) break;
        of.pending.datasets[of.pending.count++] = object_of(x_objects[number]).dataset;
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
