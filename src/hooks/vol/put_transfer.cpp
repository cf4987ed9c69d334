// SPDX-License-Identifier: Apache-2.0
// Settings of transfers.
#include "hooks/vol/put.hpp"

namespace tailrace::hooks::vol {
namespace {

/// An option of collective transfers, which cannot be asked for.
void put_option(Put& on, Key key, Status (*set)(Id, int), bool collective) {
    const Choice* choice = on.choices.open(key);
    if (choice == nullptr) return;
    if (set == nullptr) {
        on.choices.settle(key, spool::became_unavailable, "this HDF5 is a serial one");
    } else if (!collective) {
        on.choices.settle(key, spool::became_held, "the transfer is not collective");
    } else {
        const bool good = set(on.list, static_cast<int>(choice->number)) >= 0;
        on.choices.settle(key, good ? spool::became_applied : spool::became_refused,
                          good ? "" : not_taken);
    }
}

}  // namespace

void put_transfer(Put& on, bool writes) {
    const Library& of = on.of;
    const Key mode = writes ? Key::write_mode : Key::read_mode;
    bool collective = false;
    if (of.H5Pget_dxpl_mpio == nullptr || of.H5Pset_dxpl_mpio == nullptr) {
        on.choices.settle(mode, spool::became_unavailable, "this HDF5 is a serial one");
    } else {
        const auto ask = [&of](Id list, uint64_t* v) {
            int found = 0;
            const Status status = of.H5Pget_dxpl_mpio(list, &found);
            v[0] = static_cast<uint64_t>(found);
            return status;
        };
        put(on, {mode}, ask, [&of](Id list, const uint64_t* v) {
            return of.H5Pset_dxpl_mpio(list, static_cast<int>(v[0]));
        });
        uint64_t now = 0;
        collective = ask(on.list, &now) >= 0 && now == transfer_collective;
    }
    put_option(on, Key::collective_io, of.H5Pset_dxpl_mpio_collective_opt, collective);
    put_option(on, Key::chunk_io, of.H5Pset_dxpl_mpio_chunk_opt, collective);
    const Choice* buffer = on.choices.open(Key::conversion_buffer_bytes);
    if (buffer == nullptr) return;
    void* own[2] = {};
    const bool same = of.H5Pget_buffer(on.list, &own[0], &own[1]) ==
                          of.H5Pget_buffer(on.standard, nullptr, nullptr) &&
                      own[0] == nullptr && own[1] == nullptr;
    if (!same) {
        on.choices.settle(Key::conversion_buffer_bytes, spool::became_kept, program_set_it);
        return;
    }
    const bool good = of.H5Pset_buffer(on.list, buffer->number, nullptr, nullptr) >= 0;
    on.choices.settle(Key::conversion_buffer_bytes,
                      good ? spool::became_applied : spool::became_refused, good ? "" : not_taken);
}

}  // namespace tailrace::hooks::vol
