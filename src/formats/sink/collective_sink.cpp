// SPDX-License-Identifier: Apache-2.0
#include "formats/sink/collective_sink.hpp"

#include "core/hash.hpp"
#include "core/io_observer.hpp"
#include "formats/file/agree.hpp"

namespace tailrace::formats {

using core::Code;
using core::Error;

void require_same_options(const comm::Comm& comm, const std::string& where,
                          const std::string& text) {
    const std::string hash = core::hash_hex(std::as_bytes(std::span(text)));
    if (!comm.same(std::stoull(hash.substr(0, 16), nullptr, 16)))
        throw Error(Code::rank_mismatch, "ranks open it with different options", where,
                    "give the same options on all ranks; only hints may differ");
}

void CollectiveSink::refuse_if_lost() const {
    if (x_lost) throw *x_lost;
    if (x_closed)
        throw Error(Code::wrong_call, "the file was closed already", name().string(),
                    "open a new Sink");
}

std::vector<core::ObjectId> CollectiveSink::define(const core::Schema& schema) {
    refuse_if_lost();
    {
        const auto mine = comm::Comm::caught([&] { check(schema); });
        const auto scope = x_phases.enter("agree");
        agree_in_file(x_comm, mine, name());
        if (!x_comm.same(schema.hash()))
            throw Error(Code::rank_mismatch, "ranks define different schemas", name().string(),
                        "give define() the same objects and attributes on all ranks");
    }
    std::vector<core::ObjectId> ids;
    const std::size_t before = objects();
    create(schema);
    for (std::size_t i = before; i < objects(); ++i) ids.push_back(static_cast<core::ObjectId>(i));
    return ids;
}

void CollectiveSink::write(std::span<const core::Write> pieces) {
    refuse_if_lost();
    const auto scope = x_phases.enter("write");
    const Needs mine = needs(pieces);
    // One reduction for all: whether a rank has bad arguments, and what the batch needs.
    std::vector<std::uint64_t> most{mine.bad ? std::uint64_t{1} : 0};
    most.insert(most.end(), mine.most.begin(), mine.most.end());
    {
        const auto agreeing = x_phases.enter("agree");
        x_comm.reduce(most, comm::Reduce::max);
        if (most[0] != 0) agree_in_file(x_comm, mine.bad, name());  // throws on all ranks
    }
    transfer(pieces, std::span(most).subspan(1));
}

void CollectiveSink::complete(core::Step step) {
    refuse_if_lost();
    agree_on_step("writing step " + std::to_string(step));
}

void CollectiveSink::agree_on_step(const std::string& doing) {
    finish_step();
    agree(std::exchange(x_pending, std::nullopt), doing);
}

core::Ticket CollectiveSink::sync(core::Durability durability) {
    refuse_if_lost();
    if (durability == core::Durability::none) return {};
    agree(std::exchange(x_pending, std::nullopt), "writing " + name().string());
    flush();
    if (durability == core::Durability::durable) poisoning([&] { force(); }, !holds_errors());
    return {};
}

core::Pending<core::FileReport> CollectiveSink::post_close(core::Outcome outcome) {
    if (outcome == core::Outcome::publish) {
        refuse_if_lost();
        agree_on_step("writing " + name().string());
        publish();
        x_closed = true;
    } else {
        if (x_closed) refuse_if_lost();
        discard_if_open();
    }
    const auto scope = x_phases.enter("agree");  // ranks tell each other what they did
    return core::Pending<core::FileReport>::done(report());
}

void CollectiveSink::discard_if_open() noexcept {
    if (x_closed) return;
    x_closed = true;
    if (passing_alone()) abandon();
    discard();
}

void CollectiveSink::agree(const std::optional<Error>& returned, const std::string& doing) {
    // What the system calls below a library saw names bytes and reason; the library often knows
    // less.
    const std::optional<Error> seen = holds_errors() ? seen_failure(doing) : std::nullopt;
    const auto scope = x_phases.enter("agree");
    try {
        agree_in_file(x_comm, seen ? seen : returned, name());
    } catch (const Error& error) {
        // Where the library itself returned an error on some rank, its ranks may stand at
        // different places; where only held system calls failed, they do not know and are in step.
        const bool held = core::io_observer() != nullptr;
        const bool parted = x_comm.max(std::uint64_t{returned || !held ? 1U : 0U}) != 0;
        lose(error, parted);
    }
}

void CollectiveSink::lose(const Error& error, bool out_of_step) {
    x_lost = error;
    if (out_of_step) abandon();
    throw Error(error);
}

}  // namespace tailrace::formats
