// SPDX-License-Identifier: Apache-2.0
#include "formats/stepped_sink.hpp"

#include "core/hash.hpp"
#include "core/io_observer.hpp"
#include "formats/agree.hpp"

namespace tailrace::formats {

using core::Error;

void require_same_options(const comm::Comm& comm, const std::string& where,
                          const std::string& text) {
    const std::string hash = core::hash_hex(std::as_bytes(std::span(text)));
    if (!comm.same(std::stoull(hash.substr(0, 16), nullptr, 16)))
        throw Error(core::Code::rank_mismatch, "ranks open it with different options", where,
                    "give the same options on all ranks; only hints may differ");
}

SteppedSink::SteppedSink(const comm::Comm& comm, const core::Target& target, core::Phases& phases,
                         Reserve when)
    : x_comm(comm), x_phases(phases), x_target(comm, target, phases, when) {}

void SteppedSink::refuse_if_lost() const {
    if (x_lost) throw *x_lost;
    if (x_closed)
        throw Error(core::Code::wrong_call, "the file was closed already", x_target.path().string(),
                    "open a new Sink");
}

void SteppedSink::agree(const std::optional<Error>& returned, const std::string& doing) {
    // What the system calls saw names bytes and reason; the library often knows less.
    const std::optional<Error> seen = x_target.seen_failure(doing);
    const auto scope = x_phases.enter("agree");
    try {
        agree_in_file(x_comm, seen ? seen : returned, x_target.path());
    } catch (const Error& error) {
        // Where the library itself returned an error on some rank, its ranks may stand at
        // different places; where only held system calls failed, they do not know and are in step.
        const bool held = core::io_observer() != nullptr;
        const bool parted = x_comm.max(std::uint64_t{returned || !held ? 1U : 0U}) != 0;
        lose(error, parted);
    }
}

void SteppedSink::agree_on_schema(const core::Schema& schema, const std::optional<Error>& mine) {
    const auto scope = x_phases.enter("agree");
    agree_in_file(x_comm, mine, x_target.path());
    if (!x_comm.same(schema.hash()))
        throw Error(core::Code::rank_mismatch, "ranks define different schemas",
                    x_target.path().string(),
                    "give define() the same objects and attributes on all ranks");
}

void SteppedSink::lose(const Error& error, bool out_of_step) {
    x_lost = error;
    if (out_of_step) abandon();
    throw Error(error);
}

}  // namespace tailrace::formats
