// SPDX-License-Identifier: Apache-2.0
// Settings of transfers.
#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr uint64_t one_per_chunk = 2;  // H5FD_MPIO_CHUNK_MULTI_IO
constexpr int selection_io_default = 0;
constexpr int selection_io_off = 1;

/// An option of collective transfers.
template <typename Number>
void put_option(Put& on, Key key, const char* property, Status (*set)(Id, Number),
                bool collective) {
    const Library& of = on.of;
    if (set == nullptr)
        on.choices.settle(key, spool::became_unavailable, "this HDF5 is a serial one");
    else if (!collective)
        on.choices.settle(key, spool::became_held, not_collective);
    put(
        on, {key},
        [&of, property](Id list, uint64_t* v) { return ask_option<Number>(of, property, list, v); },
        [set](Id list, const uint64_t* v) { return set(list, static_cast<Number>(v[0])); });
}

/// HDF5 1.14.1 and newer hand all chunks of a call down at once; one operation per chunk is made
/// only where they do not.
void leave_selections_alone(Put& on) {
    const Library& of = on.of;
    bool per_chunk = false;
    for (const Choice& choice : on.choices) {
        if (choice.became != spool::became_applied) continue;
        const auto key = static_cast<Key>(choice.setting->key);
        per_chunk = per_chunk || (key == Key::chunk_io && choice.number == one_per_chunk) ||
                    (key == Key::chunk_io_chunks && choice.number > 0);
    }
    int mode = 0;
    if (per_chunk && of.H5Pget_selection_io != nullptr && of.H5Pset_selection_io != nullptr &&
        of.H5Pget_selection_io(on.list, &mode) >= 0 && mode == selection_io_default)
        of.H5Pset_selection_io(on.list, selection_io_off);
}

}  // namespace

// HDF5 2, or 1.14.
Context::Context(const Library& library, bool wanted) : x_library(library) {
    if (!wanted) return;
    const ErrorsKept kept(library);
    if (library.H5VLopen_lib_context != nullptr && library.H5VLclose_lib_context != nullptr)
        x_open = library.H5VLopen_lib_context(&x_context) >= 0;
    else if (library.H5VLstart_lib_state != nullptr && library.H5VLfinish_lib_state != nullptr)
        x_open = library.H5VLstart_lib_state() >= 0;
}

Context::~Context() {
    if (!x_open) return;
    const ErrorsKept kept(x_library);
    if (x_context != nullptr)
        x_library.H5VLclose_lib_context(x_context);
    else
        x_library.H5VLfinish_lib_state();
}

namespace {

/// Of the call that is under way; nullptr: it cannot be had.
void* state_of(const Library& library) {
    const ErrorsKept kept(library);
    void* state = nullptr;
    const bool known = library.H5VLretrieve_lib_state != nullptr &&
                       library.H5VLrestore_lib_state != nullptr &&
                       library.H5VLfree_lib_state != nullptr;
    return known && library.H5VLretrieve_lib_state(&state) >= 0 ? state : nullptr;
}

}  // namespace

CallOfItsOwn::CallOfItsOwn(const Library& library)
    : x_library(library), x_state(state_of(library)), x_context(library, x_state != nullptr) {
    const ErrorsKept kept(library);
    if (x_context.good()) library.H5VLrestore_lib_state(x_state);
}

CallOfItsOwn::~CallOfItsOwn() {
    const ErrorsKept kept(x_library);
    if (x_state != nullptr) x_library.H5VLfree_lib_state(x_state);
}

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
    put_option(on, Key::collective_io, option_collective_io, of.H5Pset_dxpl_mpio_collective_opt,
               collective);
    put_option(on, Key::chunk_io, option_chunk_io, of.H5Pset_dxpl_mpio_chunk_opt, collective);
    put_option(on, Key::chunk_io_chunks, option_chunk_io_chunks, of.H5Pset_dxpl_mpio_chunk_opt_num,
               collective);
    put_option(on, Key::chunk_io_percent, option_chunk_io_percent,
               of.H5Pset_dxpl_mpio_chunk_opt_ratio, collective);
    leave_selections_alone(on);
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
