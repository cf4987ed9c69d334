// SPDX-License-Identifier: Apache-2.0
// Good, lost, abandoned: what a Sink still does after a failure.
#include "formats/hdf5/sink_state.hpp"
#include "core/io_observer.hpp"

namespace tailrace::formats::hdf5 {

void Hdf5Sink::refuse_if_lost() const {
    if (x_lost) throw *x_lost;
    if (x_closed)
        throw core::Error(core::Code::wrong_call, "the file was closed already",
                          x_target.path().string(), "open a new Sink");
}

void Hdf5Sink::agree(const std::optional<core::Error>& returned, const std::string& doing) {
    // What the system calls saw names bytes and reason; HDF5 often knows less.
    const std::optional<core::Error> seen = x_target.seen_failure(doing);
    const auto scope = x_phases.enter("agree");
    try {
        x_comm.agree(seen ? seen : returned);
    } catch (const core::Error& error) {
        // Where HDF5 itself returned an error on some rank, its ranks may stand at different
        // places; where only held system calls failed, they do not know and are in step.
        const bool held = core::io_observer() != nullptr;
        const bool parted = x_comm.max(std::uint64_t{returned || !held ? 1U : 0U}) != 0;
        lose(error, parted);
    }
}

void Hdf5Sink::lose(const core::Error& error, bool out_of_step) {
    x_lost = error;
    if (out_of_step) abandon();
    throw core::Error(error);
}

}  // namespace tailrace::formats::hdf5
