// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/front_end.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/checked.hpp"
#include "core/units.hpp"

namespace tailrace::server {

namespace {

using core::Code;
using core::Error;

std::string item_text(const FrontEnd::Collection& one, Item item) {
    return "item " + std::to_string(item + 1) + " of collection " + one.name;
}

/// Of one that this client sends now.
std::string place_of(const FrontEnd::Collection& one, std::uint64_t client, Item item) {
    return one.lines[client].file + ", " + item_text(one, item);
}

Error lost(const FrontEnd::Collection& one, std::uint64_t client, Item item,
           const std::string& message) {
    return Error(Code::data_lost, "rank " + std::to_string(client) + " " + message,
                 place_of(one, client, item),
                 "the transport lost messages; please report it with the MPI library in use");
}

}  // namespace

FrontEnd::FrontEnd(const FrontEndSetup& setup)
    : x_setup(setup),
      x_state{
          .collections = {}, .gone = {}, .detached = {}, .agreement = Agreement(setup.clients)} {
    x_state.gone.resize(setup.clients);
    x_state.detached.resize(setup.clients);
}

FrontEnd::Collection& FrontEnd::of(std::uint64_t collection) {
    Collection& one = x_state.collections[collection];
    one.lines.resize(x_setup.clients);
    return one;
}

void FrontEnd::tell_all(const Message& told) {
    for (std::uint64_t client = 0; client < x_setup.clients; ++client)
        if (!x_state.gone[client]) x_replies.push_back({client, told});
}

/// After each comparison of calls.
void FrontEnd::compared(const std::optional<Disagreement>& told) {
    if (told) tell_all(*told);
    if (!x_state.agreement.state().ended || std::exchange(x_state.farewell, true)) return;
    tell_all(Credit{no_collection, 0, {}});
}

void FrontEnd::receive(std::uint64_t client, const Message& message) {
    if (const auto* hello = std::get_if<Hello>(&message)) {
        if (hello->clients == x_setup.clients && hello->layout_hash == x_setup.layout_hash) return;
        tell_all(
            Disagreement{0, Error(Code::rank_mismatch,
                                  "rank " + std::to_string(client) +
                                      " has another layout of the server than server rank " +
                                      std::to_string(x_setup.server),
                                  "layout of the server",
                                  "give all ranks the same options, environment and server.toml")});
    } else if (const auto* call = std::get_if<Call>(&message)) {
        compared(x_state.agreement.made(client, *call));
    } else if (const auto* end = std::get_if<End>(&message)) {
        if (end->kind == Ending::detach) {
            x_state.detached[client] = true;
            left(client);
            return;
        }
        Line& line = of(end->collection).lines[client];
        line.parked.emplace_back(*end);
        line.last_ended = end->item;
        go_on(end->collection, client);
    } else if (const auto* meta = std::get_if<Meta>(&message)) {
        of(meta->collection).lines[client].parked.emplace_back(*meta);
        go_on(meta->collection, client);
    } else if (const auto* data = std::get_if<Data>(&message)) {
        of(data->collection).lines[client].parked.emplace_back(*data);
        go_on(data->collection, client);
    } else {
        throw Error(Code::internal,
                    "rank " + std::to_string(client) + " sent what only front ends send", "",
                    "please report it");
    }
}

void FrontEnd::gone(std::uint64_t client) {
    if (x_state.gone[client]) return;
    x_state.gone[client] = true;
    if (x_state.detached[client]) return;
    compared(x_state.agreement.gone(client));
    left(client);
}

/// No item that this client has not ended can be complete with its part.
void FrontEnd::left(std::uint64_t client) {
    const bool dead = !x_state.detached[client];
    for (auto& [collection, one] : x_state.collections) {
        const Line& line = one.lines[client];
        std::vector<Item> done;
        for (auto& [item, open] : one.items) {
            const bool ended = line.last_ended && *line.last_ended >= item;
            if (ended && !(dead && open.disputed)) continue;  // its word to front end 0 may be lost
            if (!dead)
                one.freed = open.disputed = true;
            else if (!open.error)
                fail(one, collection, item, left_error(one, client, item));
            if (!ended) --open.missing;
            if (open.missing == 0) done.push_back(item);
        }
        for (const Item item : done) complete(one, collection, item);
        go_on(collection);
    }
}

Error FrontEnd::left_error(const Collection& one, std::uint64_t client, Item item) const {
    return Error(
        Code::poisoned,
        "rank " + std::to_string(client) + " of the model left before this item was written",
        item_text(one, item), "look for the first error of that rank");
}

/// The item; made, if this is its first message.
FrontEnd::Open& FrontEnd::open(Collection& one, Item item) {
    const auto [found, is_new] = one.items.try_emplace(item);
    Open& open = found->second;
    if (!is_new) return open;
    for (std::uint64_t client = 0; client < x_setup.clients; ++client) {
        const Line& line = one.lines[client];
        const bool never = (x_state.gone[client] || x_state.detached[client]) &&
                           !(line.last_ended && *line.last_ended >= item);
        if (!never) ++open.missing;
        if (never && x_state.detached[client]) open.disputed = true;
        if (never && !x_state.detached[client] && !open.error)
            open.error = left_error(one, client, item);
    }
    if (!open.error) one.queue.open(item);
    return open;
}

void FrontEnd::give_back(std::uint64_t client, std::uint64_t collection, std::uint64_t bytes) {
    Line& line = x_state.collections[collection].lines[client];
    line.owed += bytes;
    if (x_state.gone[client] || line.owed < x_setup.credit_bytes / 8) return;
    x_replies.push_back({client, Credit{collection, std::exchange(line.owed, 0), {}}});
}

/// Until the next message of this client has to wait, and of all others whom that concerns.
void FrontEnd::go_on(std::uint64_t collection, std::uint64_t client) {
    while (advance(collection, client)) {
    }
    go_on(collection);
}

/// If bytes became free, or an item needs none any more, for all that wait.
void FrontEnd::go_on(std::uint64_t collection) {
    while (std::exchange(x_state.collections[collection].freed, false))
        for (std::uint64_t client = 0; client < x_setup.clients; ++client)
            while (advance(collection, client)) {
            }
}

/// Takes over the next message of a client; false if there is none, or it has to wait.
bool FrontEnd::advance(std::uint64_t collection, std::uint64_t client) {
    Collection& one = x_state.collections[collection];
    std::deque<Message>& parked = one.lines[client].parked;
    if (parked.empty()) return false;
    if (const auto* data = std::get_if<Data>(&parked.front());
        data != nullptr && !take_over(one, client, *data))
        return false;
    const Message message = std::move(parked.front());
    parked.pop_front();
    if (const auto* data = std::get_if<Data>(&message))
        give_back(client, collection, data->payload_bytes);
    else if (const auto* meta = std::get_if<Meta>(&message))
        begin_file(one, client, *meta);
    else if (const auto* end = std::get_if<End>(&message))
        end_item(one, client, *end);
    return true;
}

void FrontEnd::begin_file(Collection& one, std::uint64_t client, const Meta& meta) {
    one.lines[client].file = meta.file;
    one.name = meta.collection_name;
    one.when_full = meta.bounds.when_full;
    one.queue.bound(meta.bounds.limit_bytes, meta.bounds.step_bytes, one.name);
    const bool is_new = !one.begun || *one.begun < meta.file_seq;
    if (is_new) one.begun = meta.file_seq;
    if (is_new || !meta.body.empty()) x_events.emplace_back(FileBegins{meta});
}

/// False if the queue is full and the piece has to wait.
bool FrontEnd::take_over(Collection& one, std::uint64_t client, const Data& data) {
    Open& open = this->open(one, data.item);
    open.file_seq = std::max(open.file_seq, data.file_seq);  // also if it fails before its end
    Line& line = one.lines[client];
    const Record record{data.file_seq, data.field, data.record};
    const std::uint64_t bytes = core::checked_mul(core::checked_product(data.extents, one.name),
                                                  data.element_bytes, one.name);
    if (data.lost && !open.error) fail(one, data.collection, data.item, *data.lost);
    if (!open.error && !open.disputed && !open.records.contains(record)) {
        if (one.queue.admit(data.item, bytes))
            open.records.emplace(record, bytes);
        else if (one.when_full == WhenFull::block)
            return false;
        else
            fail(one, data.collection, data.item,
                 Error(Code::no_space,
                       "the queue is full: " + core::bytes_text(one.queue.used()) + " of " +
                           core::bytes_text(one.queue.limit()) + " wait for their writer",
                       place_of(one, client, data.item),
                       "raise queue_bytes, add writers, or set when_full = block"));
    }
    if (line.messages == 0) line.item = data.item;
    const bool in_order = line.item == data.item && line.messages == data.seq;
    if (!in_order && !open.error)
        fail(one, data.collection, data.item,
             lost(one, client, data.item,
                  "sent piece " + std::to_string(data.seq) + " when piece " +
                      std::to_string(line.messages) + " was due"));
    const auto known = open.records.find(record);
    if (known != open.records.end() && known->second != bytes) one.freed = open.disputed = true;
    ++line.messages;
    line.bytes += data.payload_bytes;
    if (open.error || open.disputed)
        x_events.emplace_back(Discarded{client, data});
    else
        x_events.emplace_back(Accepted{client, data});
    return true;
}

void FrontEnd::end_item(Collection& one, std::uint64_t client, const End& end) {
    Open& open = this->open(one, end.item);
    open.file_seq = std::max(open.file_seq, end.file_seq);
    Line& line = one.lines[client];
    if (!open.error && (line.messages != end.messages || line.bytes != end.bytes))
        fail(one, end.collection, end.item,
             lost(one, client, end.item,
                  "sent " + std::to_string(end.messages) + " pieces of " +
                      core::bytes_text(end.bytes) + ", " + std::to_string(line.messages) + " of " +
                      core::bytes_text(line.bytes) + " arrived"));
    line.messages = line.bytes = 0;
    if (!open.call_hash) {
        open.kind = end.kind;
        open.call_hash = end.call_hash;
        open.meta_hash = end.meta_hash;
    }
    if (open.call_hash != end.call_hash || open.meta_hash != end.meta_hash)
        one.freed = open.disputed = true;
    if (--open.missing == 0) complete(one, end.collection, end.item);
}

/// The item has a verdict before it is complete: its bytes are free.
void FrontEnd::fail(Collection& one, std::uint64_t collection, Item item, Error error) {
    Open& open = one.items.at(item);
    open.error = std::move(error);
    open.records.clear();
    one.queue.release(item);
    one.freed = true;
    x_events.emplace_back(Dropped{collection, item, open.file_seq, open.error});
}

void FrontEnd::complete(Collection& one, std::uint64_t collection, Item item) {
    Open& open = one.items.at(item);
    for (std::uint64_t client = 0; client < x_setup.clients && open.disputed; ++client)
        if (x_state.gone[client] && !x_state.detached[client] && !open.error)
            fail(one, collection, item, left_error(one, client, item));  // front end 0 may not know
    if (open.error) {
        finish(collection, item, std::exchange(open.error, std::nullopt));
    } else if (open.disputed) {  // front end 0 tells; the item stays, should it have no word of it
        one.queue.release(item);
        one.freed = true;
        open.records.clear();
        x_events.emplace_back(Dropped{collection, item, open.file_seq, {}});
    } else {
        open.handed = true;
        x_events.emplace_back(Complete{collection, open.file_seq, item, open.kind});
    }
}

void FrontEnd::written(std::uint64_t collection, Item item, const std::optional<Error>& error,
                       const std::optional<Figures>& figures) {
    finish(collection, item, error, figures);
    go_on(collection);
}

/// The final status, to all clients.
void FrontEnd::finish(std::uint64_t collection, Item item, const std::optional<Error>& error,
                      const std::optional<Figures>& figures) {
    Collection& one = x_state.collections.at(collection);
    const Status status{item, error, figures};
    for (std::uint64_t client = 0; client < x_setup.clients; ++client)
        if (!x_state.gone[client])
            x_replies.push_back(
                {client, Credit{collection, std::exchange(one.lines[client].owed, 0), {status}}});
    one.queue.release(item);
    one.freed = true;
    one.items.erase(item);
}

bool FrontEnd::done() const {
    for (std::uint64_t client = 0; client < x_setup.clients; ++client)
        if (!x_state.gone[client] && !x_state.detached[client]) return false;
    for (const auto& [collection, one] : x_state.collections)
        for (const auto& [item, open] : one.items)
            if (open.handed) return false;
    return true;
}

}  // namespace tailrace::server
