// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/client.hpp"

#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "core/units.hpp"

namespace tailrace::server {

namespace {

using core::Code;
using core::Error;

std::uint64_t record_bytes(const FieldDefinition& field) {
    return core::checked_mul(core::checked_product(field.extents, field.name), field.element_bytes,
                             field.name);
}

std::uint64_t step_bytes(const Definition& definition) {
    std::uint64_t bytes = 0;
    for (const FieldDefinition& field : definition.fields)
        bytes = core::checked_add(bytes, record_bytes(field), field.name);
    return bytes;
}

std::uint64_t hash_of(std::uint64_t before, const Call& call) {
    std::vector<std::byte> bytes = archived(call);
    ArchiveWriter(bytes).all(before);
    return short_hash(bytes);
}

/// Refuses a piece that is none of its variable, or larger than a message may be.
std::uint64_t payload_bytes(const FieldDefinition& field, const core::Box& place,
                            std::uint64_t slab_bytes) {
    if (!place.inside(field.extents))
        throw Error(Code::bad_input,
                    "the block " + place.text() + " lies outside of the global " +
                        core::Box{core::Extents(field.extents.size(), 0), field.extents}.text(),
                    "variable " + field.name,
                    "give start and shape in elements of the global array");
    const std::uint64_t bytes = core::checked_mul(place.volume(), field.element_bytes, field.name);
    if (bytes > slab_bytes)
        throw Error(Code::bad_input,
                    "a piece of " + core::bytes_text(bytes) + " is over slab_bytes, " +
                        core::bytes_text(slab_bytes),
                    "variable " + field.name, "cut it with pieces_of()");
    return bytes;
}

}  // namespace

Client::Client(const ClientSetup& setup) : x_setup(setup) {
    if (setup.slab_bytes == 0 || setup.credit_bytes / 2 < setup.slab_bytes)
        throw Error(Code::bad_input,
                    "credit_bytes of " + core::bytes_text(setup.credit_bytes) +
                        " are less than two slabs of " + core::bytes_text(setup.slab_bytes),
                    "layout of the server", "give credit_bytes at least twice slab_bytes");
    x_setup.shared_bytes.resize(setup.servers);
    x_state.load.resize(setup.servers);
    x_state.files.resize(setup.servers);
    x_state.gone.resize(setup.servers);
    x_state.why.resize(setup.servers);
    x_state.given_up.resize(setup.servers);
    for (std::uint64_t server = 0; server < setup.servers; ++server)
        x_out.push_back({server, Hello{setup.clients, setup.layout_hash}});
}

Client::Collection& Client::at(std::uint64_t collection) {
    return const_cast<Collection&>(std::as_const(*this).at(collection));
}

const Client::Collection& Client::at(std::uint64_t collection) const {
    if (collection >= x_state.collections.size())
        throw Error(Code::wrong_call, "there is no collection " + std::to_string(collection), "",
                    "use the number that add_collection gave");
    if (x_state.detached)
        throw Error(Code::wrong_call, "the server was left",
                    "collection " + x_state.collections[collection].name,
                    "make no call after finalize");
    return x_state.collections[collection];
}

std::uint64_t Client::add_collection(std::string name, Definition definition) {
    const ByteQueue fits(definition.limit_bytes, step_bytes(definition), name);
    Collection one;
    one.name = std::move(name);
    one.definition = std::move(definition);
    one.credit.resize(x_setup.servers, x_setup.credit_bytes);
    one.known.resize(x_setup.servers);
    const std::uint64_t collection = x_state.collections.size();
    announce(x_state.collections.emplace_back(std::move(one)), collection, Ending::add_collection);
    return collection;
}

void Client::define(std::uint64_t collection, Definition definition) {
    Collection& one = at(collection);
    const ByteQueue fits(definition.limit_bytes, step_bytes(definition), one.name);
    if (one.open) {
        if (!one.puts.empty())
            throw Error(Code::wrong_call, "metadata cannot change within a step",
                        "collection " + one.name, "end the step first");
        end(collection, Ending::close_file);
    }
    one.definition = std::move(definition);
}

/// By this rank's part of a step, and what a front end may owe while it has taken all over.
void Client::allow_ahead(Collection& one, std::uint64_t step_bytes) const {
    const std::uint64_t before =
        std::exchange(one.ahead, std::max(one.ahead, step_bytes + x_setup.credit_bytes / 8));
    for (std::uint64_t server = 0; server < x_setup.servers; ++server) {
        const auto allowed = [&](std::uint64_t ahead) {
            return std::max(x_setup.credit_bytes, std::min(x_setup.shared_bytes[server], ahead));
        };
        one.credit[server] += allowed(one.ahead) - allowed(before);
    }
}

/// The same on all ranks, since it follows from calls and statuses alone.
std::uint64_t Client::least_loaded() const {
    std::uint64_t best = 0;
    const auto measure = [this](std::uint64_t server) {
        return std::pair(x_state.load[server], x_state.files[server]);
    };
    for (std::uint64_t server = 1; server < x_setup.servers; ++server)
        if (!x_state.given_up[server] &&
            (x_state.given_up[best] || measure(server) < measure(best)))
            best = server;
    return best;
}

void Client::name_file(std::uint64_t collection, const std::string& file) {
    Collection& one = at(collection);
    const bool again = one.file == file;
    if (one.open && again) return;
    if (one.open) {
        if (!one.puts.empty())
            throw Error(Code::wrong_call, "the step writes " + one.file + " already, not " + file,
                        "collection " + one.name, "end the step before you name another file");
        end(collection, Ending::close_file);
    }
    one.file = file;
    one.open = true;
    ++one.file_seq;
    const auto written = std::find_if(one.awaited.rbegin(), one.awaited.rend(),
                                      [&](const Awaited& item) { return item.file == file; });
    if (written != one.awaited.rend())  // by a server that may still be at it
        one.server = written->server;
    else if (!again || x_state.given_up[one.server])
        one.server = least_loaded();
    ++x_state.files[one.server];
    if (x_state.disagreement) return;
    Meta meta{.collection = collection,
              .file_seq = one.file_seq,
              .collection_name = one.name,
              .file = file,
              .bounds = {one.definition.limit_bytes, step_bytes(one.definition),
                         one.definition.when_full},
              .meta_hash = one.definition.hash};
    if (x_setup.client == 0 && one.known[one.server] != one.definition.hash) {
        meta.body = one.definition.body;
        one.known[one.server] = one.definition.hash;
    }
    one.waiting.push_back({one.server, std::move(meta)});
    pump(one);
}

const FieldDefinition& Client::field_of(const Collection& one, std::uint64_t field) const {
    if (field >= one.definition.fields.size())
        throw Error(Code::wrong_call, "there is no variable " + std::to_string(field),
                    "collection " + one.name, "use the number that the definition gives");
    return one.definition.fields[field];
}

std::uint64_t Client::element_bytes(std::uint64_t collection, std::uint64_t field) const {
    return field_of(at(collection), field).element_bytes;
}

void Client::put(std::uint64_t collection, std::uint64_t field, std::uint64_t record,
                 std::span<const Piece> pieces) {
    Collection& one = at(collection);
    const FieldDefinition& about = field_of(one, field);
    if (!one.open)
        throw Error(Code::wrong_call, "no file is open for variable " + about.name,
                    "collection " + one.name, "name the file first");
    for (const Piece& piece : pieces)
        static_cast<void>(payload_bytes(about, piece.place, x_setup.slab_bytes));
    one.puts.push_back({about.name, about.definition});
    one.load += record_bytes(about);
    for (const Piece& piece : pieces) {
        if (piece.place.empty() || x_state.disagreement) continue;
        const std::uint64_t bytes = payload_bytes(about, piece.place, x_setup.slab_bytes);
        one.waiting.push_back({one.server,
                               Data{.collection = collection,
                                    .file_seq = one.file_seq,
                                    .item = one.item,
                                    .field = field,
                                    .record = record,
                                    .element_bytes = about.element_bytes,
                                    .extents = about.extents,
                                    .place = piece.place,
                                    .seq = one.messages++,
                                    .payload_bytes = bytes,
                                    .variable = about.name},
                               piece.payload});
        one.bytes += bytes;
    }
    allow_ahead(one, one.bytes);
    pump(one);
}

/// Tells front end 0 about a call.
void Client::announce(Collection& one, std::uint64_t collection, Ending kind) {
    Call call{.call = x_state.calls++,
              .kind = kind,
              .collection = collection,
              .item = one.item,
              .server = one.server,
              .meta_hash = one.definition.hash};
    CallText text{one.name, one.file, std::exchange(one.puts, {})};
    call.text_hash = short_hash(archived(text));
    x_state.call_hash = hash_of(x_state.call_hash, call);
    if (call.text_hash != std::exchange(one.last_text, call.text_hash)) call.text = std::move(text);
    if (!x_state.disagreement) x_out.push_back({0, std::move(call)});
}

void Client::end(std::uint64_t collection, Ending kind) {
    Collection& one = at(collection);
    const bool discards = kind == Ending::discard_file;
    if (discards && !one.open) return;
    if (kind != Ending::step && !discards && !one.puts.empty())
        throw Error(Code::wrong_call, "the step was not ended", "collection " + one.name,
                    "call end_step before close_file and flush");
    if (kind == Ending::close_file && !one.open)
        throw Error(Code::wrong_call, "no file is open", "collection " + one.name,
                    "close a file once, after its last step");
    one.awaited.push_back({one.item, kind, x_state.calls, one.server, one.load, one.file});
    x_state.load[one.server] += std::exchange(one.load, 0);
    announce(one, collection, kind);
    if (!x_state.disagreement)
        one.waiting.push_back({one.server, End{.kind = kind,
                                               .collection = collection,
                                               .file_seq = one.file_seq,
                                               .item = one.item,
                                               .messages = one.messages,
                                               .bytes = one.bytes,
                                               .meta_hash = one.definition.hash,
                                               .call_hash = x_state.call_hash}});
    ++one.item;
    one.messages = one.bytes = 0;
    if (kind != Ending::step) one.open = false;
    pump(one);
}

void Client::detach() {
    for (const Collection& one : x_state.collections)
        if (!one.puts.empty())
            throw Error(Code::wrong_call, "the last step was not ended", "collection " + one.name,
                        "call end_step before finalize");
    Collection nobody;
    nobody.name.clear();
    announce(nobody, no_collection, Ending::detach);
    x_state.detached = true;
    for (std::uint64_t server = 0; server < x_setup.servers; ++server)
        if (!x_state.gone[server]) x_out.push_back({server, End{.kind = Ending::detach}});
}

/// Sends what has credit, in order.
void Client::pump(Collection& one) {
    while (!one.waiting.empty()) {
        Outgoing& next = one.waiting.front();
        if (!x_state.gone[next.to]) {
            if (const auto* data = std::get_if<Data>(&next.message)) {
                if (one.credit[next.to] < data->payload_bytes) return;
                one.credit[next.to] -= data->payload_bytes;
            }
            x_out.push_back(std::move(next));
        }
        one.waiting.pop_front();
    }
}

/// Of items that will not be written: what still waits for credit.
void Client::let_go(Collection& one) {
    const auto lost = [&](const Outgoing& waiting) {
        const auto* data = std::get_if<Data>(&waiting.message);
        const auto* end = std::get_if<End>(&waiting.message);
        if (data == nullptr && end == nullptr) return false;
        const Item item = data != nullptr ? data->item : end->item;
        for (const Awaited& awaited : one.awaited)
            if (awaited.item == item) return awaited.call >= x_state.disagreement->call;
        return true;
    };
    one.waiting.erase(std::remove_if(one.waiting.begin(), one.waiting.end(), lost),
                      one.waiting.end());
    pump(one);
}

void Client::receive(std::uint64_t server, const Message& message) {
    if (x_state.gone[server]) return;  // other ranks were told that it is lost
    if (const auto* disagreement = std::get_if<Disagreement>(&message)) {
        if (x_state.disagreement) return;
        x_state.disagreement = *disagreement;
        for (Collection& one : x_state.collections) let_go(one);
    } else if (const auto* credit = std::get_if<Credit>(&message)) {
        if (credit->collection == no_collection) x_state.farewell = true;
        if (credit->collection >= x_state.collections.size()) return;
        Collection& one = x_state.collections[credit->collection];
        one.credit[server] += credit->bytes;
        for (const Status& status : credit->statuses)
            for (Awaited& awaited : one.awaited)
                if (awaited.item == status.item && awaited.server == server) awaited.final = status;
        pump(one);
    } else {
        throw Error(Code::internal,
                    "front end " + std::to_string(server) + " sent what only clients send", "",
                    "please report it");
    }
}

void Client::gone(std::uint64_t server, const std::string& why) {
    if (!x_state.gone[server]) x_state.why[server] = why.empty() ? "has gone" : why;
    x_state.gone[server] = true;
    for (Collection& one : x_state.collections) pump(one);
}

std::vector<Outgoing> Client::take() {
    std::vector<Outgoing> out = std::exchange(x_out, {});
    std::erase_if(out, [&](const Outgoing& one) { return x_state.gone[one.to]; });
    return out;
}

void Client::forget_payloads() noexcept {
    for (Outgoing& one : x_out) one.payload = Outgoing::forgotten;
    for (Collection& collection : x_state.collections)
        for (Outgoing& one : collection.waiting) one.payload = Outgoing::forgotten;
}

Error Client::no_memory(const Data& data) const {
    const Collection& one = at(data.collection);
    return Error(Code::no_space,
                 "this rank of the model has no memory for a piece of " +
                     core::bytes_text(data.payload_bytes),
                 place_text(one.file, data.variable, data.record),
                 "give the rank more memory (fewer ranks per node, a higher limit), or the server "
                 "more shared_bytes")
        .seen_by(static_cast<int>(x_setup.client), 1, static_cast<int>(x_setup.clients));
}

bool Client::sent(std::uint64_t collection) const { return at(collection).waiting.empty(); }

Error Client::gone_error(std::uint64_t server, const std::string& what,
                         const std::string& file) const {
    return Error(Code::poisoned,
                 "server rank " + std::to_string(server) + " " + x_state.why[server] +
                     "; it is not known what became of " + what,
                 file.empty() ? "layout of the server" : file,
                 "look for the first error of that rank");
}

std::optional<Status> Client::final_of(const Collection& one, const Awaited& item) const {
    // Of others than server 0, ranks may have heard unlike much before that one was lost.
    if (item.final && (item.server == 0 || !x_state.gone[0])) return item.final;
    if (x_state.disagreement && item.call >= x_state.disagreement->call)
        return Status{item.item, x_state.disagreement->error};
    for (const std::uint64_t server : {item.server, std::uint64_t{0}})
        if (x_state.gone[server])
            return Status{item.item, gone_error(server,
                                                "item " + std::to_string(item.item + 1) +
                                                    " of collection " + one.name,
                                                item.file)};
    return std::nullopt;
}

bool Client::left() const {
    return x_state.farewell || x_state.disagreement.has_value() || x_state.gone[0];
}

std::optional<Error> Client::farewell() const {
    if (x_state.farewell) return std::nullopt;
    if (x_state.disagreement) return x_state.disagreement->error;
    return gone_error(0, "the last calls");
}

bool Client::settled(std::uint64_t collection, std::uint64_t keep) const {
    const Collection& one = at(collection);
    std::uint64_t steps = 0;  // a status may be due if at least `keep` steps follow
    for (auto item = one.awaited.rbegin(); item != one.awaited.rend(); ++item) {
        if (item->kind == Ending::step) ++steps;
        if ((keep == 0 || steps > keep) && !final_of(one, *item)) return false;
    }
    return true;
}

std::vector<Status> Client::statuses(std::uint64_t collection, std::uint64_t keep) {
    Collection& one = at(collection);
    const auto is_step = [](const Awaited& item) { return item.kind == Ending::step; };
    auto steps =
        static_cast<std::uint64_t>(std::count_if(one.awaited.begin(), one.awaited.end(), is_step));
    std::vector<Status> taken;
    while (!one.awaited.empty() && (keep == 0 || steps > keep)) {
        const Awaited item = one.awaited.front();
        const std::optional<Status> status = final_of(one, item);
        if (!status)
            throw Error(Code::wrong_call, "a status was taken before it was there",
                        "collection " + one.name, "wait until it is settled");
        one.awaited.pop_front();
        if (x_state.gone[item.server] && !item.final) x_state.given_up[item.server] = true;
        if (is_step(item)) --steps;
        x_state.load[item.server] -= item.bytes;
        taken.push_back(*status);
    }
    return taken;
}

}  // namespace tailrace::server
