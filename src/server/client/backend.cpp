// SPDX-License-Identifier: Apache-2.0
#include "server/client/backend.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "core/checked.hpp"
#include "core/units.hpp"
#include "server/buffer/slab.hpp"

namespace tailrace::server {

/// A record of each variable.
static std::uint64_t step_bytes(const Definition& definition) {
    std::uint64_t sum = 0;
    for (const FieldDefinition& field : definition.fields) {
        const std::string where = "variable " + field.name;
        const std::uint64_t elements = core::checked_product(field.extents, where);
        sum = core::checked_add(sum, core::checked_mul(elements, field.element_bytes, where),
                                "a step");
    }
    return sum;
}

Definition definition_of(const FileSpec& spec) {
    const FileMetadata& metadata = spec.metadata;
    Definition all;
    for (const Variable& variable : metadata.variables())
        all.fields.push_back({variable.name, size_of(variable.type),
                              metadata.record_extents(variable), metadata.hash(variable)});
    const std::uint64_t bytes = step_bytes(all);
    all.body = spec.to_bytes();
    all.hash = short_hash(all.body);
    all.limit_bytes = spec.options.queue_bytes > 0
                          ? spec.options.queue_bytes
                          : core::checked_mul(std::max<std::uint64_t>(spec.options.depth, 1), bytes,
                                              "a queue of `depth` steps");
    all.when_full = spec.options.when_full;
    all.depth = spec.options.depth;
    return all;
}

/// What lies in shared memory costs its server nothing. Messages are for a server to hold, and MPI
/// moves the last of them only in the next call.
static ClientSetup with_shared(ClientSetup setup, const Neighbours& neighbours, int own,
                               int first_server) {
    for (std::uint64_t server = 0; server < setup.servers; ++server)
        setup.shared_bytes.push_back(neighbours.near(first_server + static_cast<int>(server))
                                         ? neighbours.part(own).size()
                                         : 0);
    return setup;
}

static ClientSetup synchronous(ClientSetup setup) {
    setup.servers = 1;
    setup.depth = 0;
    setup.stuck_timeout_s = 0;  // rank 0 computes too, and writes only within its calls
    // Nor may a put wait for rank 0, which may wait for this rank in a call of the model's.
    setup.credit_bytes = std::numeric_limits<std::uint64_t>::max() / 4;
    return setup;
}

Backend::Backend(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours,
                 int first_server)
    : x_channel(channel),
      x_machine(with_shared(setup, neighbours, channel.rank(), first_server)),
      x_neighbours(std::move(neighbours)),
      x_slots(x_neighbours.part(channel.rank()).size()),
      x_first_server(first_server) {
    for (std::uint64_t server = 0; server < setup.servers; ++server)
        x_lives.push_back(channel.receive(first_server + static_cast<int>(server), life, {}));
    x_silence.resize(setup.servers);
    send({});
}

Backend::Backend(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours)
    : Backend(channel, setup, std::move(neighbours), static_cast<int>(setup.clients)) {}

Backend::Backend(comm::Channel& channel, const ClientSetup& setup, const Neighbours& neighbours,
                 WriteWork write)
    : Backend(channel, synchronous(setup), neighbours, 0) {
    if (setup.client == 0)
        x_server.emplace(channel,
                         FrontEndSetup{0, setup.clients, setup.layout_hash, setup.credit_bytes},
                         std::move(write), Writing::within, neighbours);
}

bool Backend::send(const Block& block) {
    for (bool moved = false;; moved = true, ++x_left) {
        if (x_left == x_unsent.size()) {
            x_unsent = x_machine.take();
            x_left = 0;
            if (x_unsent.empty()) return moved;
        }
        send(x_unsent[x_left], block);  // if there is no memory, the next call goes on here
    }
}

std::optional<std::uint64_t> Backend::slot_for(int rank, std::uint64_t bytes) {
    if (!x_neighbours.near(rank)) return std::nullopt;
    const auto slot = x_slots.room(bytes);
    return slot && x_neighbours.use(*slot + bytes) ? slot : std::nullopt;
}

/// Packs a piece into its slot, or behind its header: the one copy on the model's clock. A piece
/// that there is no memory for goes as a header that says so.
void Backend::send(Outgoing& one, const Block& block) {
    const auto rank = x_first_server + static_cast<int>(one.to);
    const auto packed = [&](std::span<std::byte> to) {
        pack(block.box, block.memory, block.element_bytes, block.data, one.payload, to);
    };
    auto* data = std::get_if<Data>(&one.message);
    if (data != nullptr && !one.placed) {
        const auto slot =
            one.payload == Outgoing::forgotten ? std::nullopt : slot_for(rank, data->payload_bytes);
        x_slots.take({one.to, data->collection}, data->payload_bytes, slot);
        one.placed = true;
        data->slot = slot;
        if (slot) packed(x_neighbours.part(x_channel.rank()).subspan(*slot, data->payload_bytes));
    }
    if (one.payload == Outgoing::forgotten && bytes_behind(one.message) > 0)
        data->lost = x_machine.no_memory(*data);
    std::vector<std::byte> header = encode(one.message);
    Buffers::Memory memory;
    try {
        memory = x_buffers.take(header.size() + bytes_behind(one.message));
    } catch (const std::bad_alloc&) {
        if (bytes_behind(one.message) == 0) throw;
        data->lost = x_machine.no_memory(*data);
        header = encode(one.message);
        memory = x_buffers.take(header.size());
    }
    const std::span bytes(memory.get(), header.size() + bytes_behind(one.message));
    std::copy(header.begin(), header.end(), bytes.begin());
    if (bytes_behind(one.message) > 0) packed(bytes.subspan(header.size()));
    x_channel.send(rank, to_front_end, bytes, memory);
    ++x_traffic.sent;
}

/// @returns whether there was anything
bool Backend::move_on(const Block& block) {
    bool moved = x_server && x_server->move_on();
    hear_of_lost();
    while (const auto message = x_channel.probe(to_client)) {
        x_silence[static_cast<std::size_t>(message->rank - x_first_server)] = 0;
        std::vector<std::byte> bytes(message->bytes);
        x_channel.wait(x_channel.receive(message->rank, to_client, bytes));
        ++x_traffic.received;
        const auto server = static_cast<std::uint64_t>(message->rank - x_first_server);
        const Message decoded = decode(bytes).first;
        if (const auto* credit = std::get_if<Credit>(&decoded))
            x_slots.free({server, credit->collection}, credit->bytes);
        x_machine.receive(server, decoded);
        moved = true;
    }
    for (std::size_t server = 0; server < x_lives.size(); ++server)
        if (x_lives[server].done()) {
            x_lives[server] = {};
            x_silence[server] = 0;
            x_machine.gone(server);
            moved = true;
        }
    return send(block) || moved;
}

/// What one rank finds out holds for all, or their ways would part.
void Backend::hear_of_lost() {
    while (const auto message = x_channel.probe(lost)) {
        std::uint64_t server = 0;
        x_channel.wait(
            x_channel.receive(message->rank, lost, std::as_writable_bytes(std::span(&server, 1))));
        lose(server);
    }
}

void Backend::lose(std::uint64_t server) {
    x_lost = true;
    x_machine.gone(server,
                   "has not moved for " + core::seconds_text(x_machine.setup().stuck_timeout_s));
}

/// A server says something every quarter of the limit, as long as its writer moves.
void Backend::count_silence(comm::Clock::duration waited) {
    const ClientSetup& setup = x_machine.setup();
    // Of a rank that was stopped itself, the time does not count.
    const double seconds =
        std::min(std::chrono::duration<double>(waited).count(), setup.stuck_timeout_s / 4);
    for (std::uint64_t server = 0; server < setup.servers && setup.stuck_timeout_s > 0; ++server) {
        double& silence = x_silence[server];
        if (x_machine.state().gone[server] || (silence += seconds) < setup.stuck_timeout_s)
            continue;
        const auto bytes = std::make_shared<std::uint64_t>(server);
        for (std::uint64_t client = 0; client < setup.clients; ++client)
            if (client != setup.client)
                x_channel.send(static_cast<int>(client), lost,
                               std::as_bytes(std::span(bytes.get(), 1)), bytes);
        lose(server);
    }
}

template <class Condition>
void Backend::until(const Condition& reached, const Block& block) {
    std::fill(x_silence.begin(), x_silence.end(), 0);
    auto before = comm::Clock::now();
    move_on(block);
    while (!reached())
        x_channel.wait_until([&] {
            const auto now = comm::Clock::now();
            count_silence(now - std::exchange(before, now));
            return move_on(block) || reached();
        });
}

/// Touches memory for the mean part of a step now, and not on the model's clock.
std::uint64_t Backend::add_collection(std::string name, Definition definition) {
    x_expected += step_bytes(definition) / x_machine.setup().clients;
    static_cast<void>(x_neighbours.use(
        std::min<std::uint64_t>(x_expected, x_neighbours.part(x_channel.rank()).size())));
    const std::uint64_t number = x_machine.add_collection(std::move(name), std::move(definition));
    send({});
    return number;
}

void Backend::define(std::uint64_t collection, Definition definition) {
    x_machine.define(collection, std::move(definition));
    send({});
}

void Backend::put(std::uint64_t collection, const std::string& file, std::uint64_t field,
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
    const Block from{block, data, memory, bytes};
    try {
        x_machine.put(collection, field, record, pieces);
        send(from);
        until([&] { return x_machine.sent(collection); }, from);
    } catch (...) {  // the array is the caller's again, and other ranks hear that pieces are lost
        x_machine.forget_payloads();
        for (Outgoing& one : x_unsent) one.payload = Outgoing::forgotten;
        throw;
    }
}

std::vector<Status> Backend::end_step(std::uint64_t collection) {
    x_machine.end(collection, Ending::step);
    const ClientSetup& setup = x_machine.setup();
    const auto own = x_machine.state().collections.at(collection).definition.depth;
    const std::uint64_t depth = setup.depth == 0 ? 0 : own.value_or(setup.depth);
    until([&] { return x_machine.settled(collection, depth); }, {});
    return x_machine.statuses(collection, depth);
}

void Backend::end_file(std::uint64_t collection, core::Outcome outcome) {
    x_machine.end(collection,
                  outcome == core::Outcome::discard ? Ending::discard_file : Ending::close_file);
    send({});
}

std::optional<core::Error> Backend::heard() {
    move_on({});
    for (const Client::Collection& one : x_machine.state().collections)
        for (const Client::Awaited& item : one.awaited)
            if (const auto status = x_machine.final_of(one, item); status && status->error)
                return status->error;
    return std::nullopt;
}

std::vector<Status> Backend::close_file(std::uint64_t collection) {
    x_machine.end(collection, Ending::close_file);
    until([&] { return x_machine.settled(collection, 0); }, {});
    return x_machine.statuses(collection, 0);
}

std::vector<Status> Backend::flush(std::uint64_t collection) {
    x_machine.end(collection, Ending::flush);
    until([&] { return x_machine.settled(collection, 0); }, {});
    return x_machine.statuses(collection, 0);
}

std::vector<Status> Backend::finalize() {
    std::vector<Status> all;
    for (std::uint64_t c = 0; c < x_machine.state().collections.size(); ++c) {
        until([&] { return x_machine.settled(c, 0); }, {});
        for (Status& status : x_machine.statuses(c, 0)) all.push_back(std::move(status));
    }
    x_machine.detach();
    until([&] { return x_machine.left(); }, {});
    if (const auto error = x_machine.farewell()) throw *error;
    if (x_server) x_server->run();
    return all;
}

}  // namespace tailrace::server
