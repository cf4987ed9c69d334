// SPDX-License-Identifier: Apache-2.0
#include "server/client/remote.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/checked.hpp"
#include "server/buffer/slab.hpp"
#include "server/frontend/serve.hpp"

namespace tailrace::server {

Definition definition_of(const FileSpec& spec) {
    const FileMetadata& metadata = spec.metadata;
    Definition all;
    std::uint64_t step_bytes = 0;
    for (const Variable& variable : metadata.variables()) {
        core::Extents extents = metadata.record_extents(variable);
        const std::string where = "variable " + variable.name;
        step_bytes = core::checked_add(
            step_bytes,
            core::checked_mul(core::checked_product(extents, where), size_of(variable.type), where),
            "a step");
        all.fields.push_back(
            {variable.name, size_of(variable.type), std::move(extents), metadata.hash(variable)});
    }
    all.body = spec.to_bytes();
    all.hash = short_hash(all.body);
    all.limit_bytes = spec.options.queue_bytes > 0
                          ? spec.options.queue_bytes
                          : core::checked_mul(std::max<std::uint64_t>(spec.options.depth, 1),
                                              step_bytes, "a queue of `depth` steps");
    all.when_full = spec.options.when_full;
    all.depth = spec.options.depth;
    return all;
}

Remote::Remote(comm::Channel& channel, const ClientSetup& setup)
    : Remote(channel, setup, static_cast<int>(setup.clients), {}) {}

Remote::Remote(comm::Channel& channel, const ClientSetup& setup, int first_server,
               std::function<void()> beside)
    : x_channel(channel),
      x_machine(setup),
      x_first_server(first_server),
      x_beside(std::move(beside)) {
    for (std::uint64_t server = 0; server < setup.servers; ++server)
        x_lives.push_back(channel.receive(first_server + static_cast<int>(server), life, {}));
    send({});
}

/// Packs each piece behind its header: the one copy on the model's clock.
void Remote::send(const Block& block) {
    for (const Outgoing& one : x_machine.take()) {
        const auto bytes = std::make_shared<std::vector<std::byte>>(encode(one.message));
        if (const auto* data = std::get_if<Data>(&one.message)) {
            const std::size_t header = bytes->size();
            bytes->resize(header + data->payload_bytes);
            pack(block.box, block.memory, block.element_bytes, block.data, one.payload,
                 std::span(*bytes).subspan(header));
        }
        const auto rank = x_first_server + static_cast<int>(one.to);
        x_channel.send(rank, to_front_end, *bytes, bytes);
    }
}

void Remote::move_on(const Block& block) {
    if (x_beside) x_beside();
    while (const auto message = x_channel.probe(to_client)) {
        std::vector<std::byte> bytes(message->bytes);
        x_channel.wait(x_channel.receive(message->rank, to_client, bytes));
        x_machine.receive(static_cast<std::uint64_t>(message->rank - x_first_server),
                          decode(bytes).first);
    }
    for (std::size_t server = 0; server < x_lives.size(); ++server)
        if (x_lives[server].done()) {
            x_lives[server] = {};
            x_machine.gone(server);
        }
    send(block);
}

template <class Condition>
void Remote::until(const Condition& reached, const Block& block) {
    for (move_on(block); !reached(); move_on(block)) x_channel.wait_some(x_lives, idle_time);
}

std::uint64_t Remote::add_collection(std::string name, Definition definition) {
    const std::uint64_t number = x_machine.add_collection(std::move(name), std::move(definition));
    send({});
    return number;
}

void Remote::define(std::uint64_t collection, Definition definition) {
    x_machine.define(collection, std::move(definition));
    send({});
}

void Remote::put(std::uint64_t collection, const std::string& file, std::uint64_t field,
                 std::uint64_t record, const core::Box& block, const std::byte* data,
                 const core::MemLayout& memory) {
    x_machine.name_file(collection, file);
    const std::uint64_t bytes = x_machine.element_bytes(collection, field);
    std::vector<Piece> pieces;
    std::uint64_t elements = 0;
    const auto places = data == nullptr ? std::vector<core::Box>{}
                                        : pieces_of(block, bytes, x_machine.setup().slab_bytes);
    for (const core::Box& place : places) {
        const std::uint64_t begin = elements;
        elements += place.volume();
        pieces.push_back({place, begin});
    }
    x_machine.put(collection, field, record, pieces);
    const Block from{block, data, memory, bytes};
    send(from);
    until([&] { return x_machine.sent(collection); }, from);
}

std::vector<Status> Remote::end_step(std::uint64_t collection) {
    x_machine.end(collection, Ending::step);
    const ClientSetup& setup = x_machine.setup();
    const auto own = x_machine.state().collections.at(collection).definition.depth;
    const std::uint64_t depth = setup.depth == 0 ? 0 : own.value_or(setup.depth);
    until([&] { return x_machine.settled(collection, depth); }, {});
    return x_machine.statuses(collection, depth);
}

void Remote::end_file(std::uint64_t collection, core::Outcome outcome) {
    x_machine.end(collection,
                  outcome == core::Outcome::discard ? Ending::discard_file : Ending::close_file);
    send({});
}

std::optional<core::Error> Remote::heard() {
    move_on({});
    for (const Client::Collection& one : x_machine.state().collections)
        for (const Client::Awaited& item : one.awaited)
            if (item.final && item.final->error) return item.final->error;
    return std::nullopt;
}

std::vector<Status> Remote::close_file(std::uint64_t collection) {
    x_machine.end(collection, Ending::close_file);
    until([&] { return x_machine.settled(collection, 0); }, {});
    return x_machine.statuses(collection, 0);
}

std::vector<Status> Remote::flush(std::uint64_t collection) {
    x_machine.end(collection, Ending::flush);
    until([&] { return x_machine.settled(collection, 0); }, {});
    return x_machine.statuses(collection, 0);
}

std::vector<Status> Remote::finalize() {
    std::vector<Status> all;
    for (std::uint64_t c = 0; c < x_machine.state().collections.size(); ++c) {
        until([&] { return x_machine.settled(c, 0); }, {});
        for (Status& status : x_machine.statuses(c, 0)) all.push_back(std::move(status));
    }
    x_machine.detach();
    until([&] { return x_machine.left(); }, {});
    if (const auto error = x_machine.farewell()) throw *error;
    return all;
}

}  // namespace tailrace::server
