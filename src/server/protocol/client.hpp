// SPDX-License-Identifier: Apache-2.0
// What a rank of the model does, without transport: calls go in, messages come out.
//
// Why nobody waits for ever. Calls are numbered over all collections, and items within each.
//
// 1. Credits are per client, collection and front end. A front end gives them back as the next
//    stage takes the bytes over, at the latest at an eighth of them, and a piece has at most half:
//    a client whose pieces were all taken over can send the next one. A piece has a slot in shared
//    memory, or travels in its message: nobody waits for a slot. The credit that comes back for a
//    piece says also that its slot is free.
// 2. Of a collection, a front end always takes over pieces of the oldest item that is not final,
//    whatever its queue holds (ByteQueue). It needs nothing from another client for that: each says
//    itself that a file begins, and each piece carries the extents of its variable.
// 3. So, by induction over the calls that all clients agree on: their items before are final or
//    complete with the writer, which waits for nobody; this one is the oldest of its collection, is
//    sent, ended by all, and written.
// 4. A call on which they do not agree is ended, or at least announced, by every client, since all
//    items before become final (3) and its own pieces are the oldest (2). Front end 0 then has it
//    from all and says so to all; who waits for this item or a later one, of any collection or
//    front end, stops waiting. Pieces that still wait for credit are let go.
// 5. A client that is gone counts as having ended nothing more: items without it fail at their
//    front end. For a front end that is gone, each client fails its items itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/protocol/message.hpp"

namespace tailrace::server {

struct ClientSetup {
    std::uint64_t client = 0, clients = 1, servers = 1;
    std::uint64_t layout_hash = 0;
    std::uint64_t slab_bytes = std::uint64_t{8} << 20;     ///< of the payload of a message, at most
    std::uint64_t credit_bytes = std::uint64_t{16} << 20;  ///< at least twice slab_bytes
    std::uint64_t depth = 2;                               ///< steps without a final status
    double stuck_timeout_s = 0;  ///< a server that says nothing for so long is lost; 0: never
    /// Per front end: so many bytes of this client's memory it sees. Credit may be more then, but
    /// not more than a step: memory that was used once stays in use.
    std::vector<std::uint64_t> shared_bytes{};
};

/// A variable, as far as the protocol knows it.
struct FieldDefinition {
    std::string name;
    std::uint64_t element_bytes = 0;
    core::Extents extents{};       ///< of one record
    std::uint64_t definition = 0;  ///< hash of type and shape, to name the one that differs
};
/// What the files of a collection look like.
struct Definition {
    std::vector<FieldDefinition> fields;
    std::uint64_t hash = 0;
    std::vector<std::byte> body{};         ///< for the writer; only client 0 needs it
    std::uint64_t limit_bytes = 0;         ///< of the queue
    std::optional<std::uint64_t> depth{};  ///< unset: that of the setup
    WhenFull when_full = WhenFull::block;
};

/// A message on its way. `payload` is the caller's number for the bytes of a piece.
struct Outgoing {
    static constexpr std::uint64_t forgotten = ~std::uint64_t{0};  ///< the bytes are not there
    std::uint64_t to = 0;
    Message message;
    std::uint64_t payload = 0;
    bool placed = false;  ///< for the caller: its slot was chosen
};
/// A part of the block that a rank puts.
struct Piece {
    core::Box place;
    std::uint64_t payload = 0;
};

class Client {
public:
    struct Awaited {
        Item item = 0;
        Ending kind = Ending::step;
        std::uint64_t call = 0, server = 0, bytes = 0;
        std::string file{};
        std::optional<Status> final{};
    };
    struct Collection {
        std::string name, file;
        Definition definition;
        bool open = false;
        std::uint64_t file_seq = 0, server = 0;
        Item item = 0;                          ///< that the next Data belong to
        std::uint64_t messages = 0, bytes = 0;  ///< sent for it
        std::uint64_t load = 0;                 ///< bytes of all ranks for it
        std::uint64_t ahead = 0;                ///< credit that shared memory may raise it to
        std::vector<PutCall> puts{};
        std::uint64_t last_text = 0;
        std::vector<std::uint64_t> credit{};                ///< per server
        std::vector<std::optional<std::uint64_t>> known{};  ///< per server: hash of its Meta body
        std::deque<Outgoing> waiting{};                     ///< for credit, or behind such
        std::deque<Awaited> awaited{};                      ///< items without a status taken
    };
    struct State {
        std::vector<Collection> collections;
        std::vector<std::uint64_t> load, files;  ///< per server: bytes that are not final; files
        std::vector<bool> gone;                  ///< per server
        std::vector<bool> given_up{};    ///< per server: all ranks took a status that it is gone
        std::vector<std::string> why{};  ///< per server, if it is gone
        std::uint64_t calls = 0, call_hash = 0;
        std::optional<Disagreement> disagreement;
        bool detached = false;
        bool farewell = false;  ///< all others said goodbye at the same call
    };

    /// @throws core::Error{Code::bad_input} if a setting is impossible
    explicit Client(const ClientSetup& setup);

    /// @returns its number, the same on all ranks  [local]
    /// @throws core::Error{Code::bad_input} if the queue cannot hold a step
    std::uint64_t add_collection(std::string name, Definition definition);
    /// Another definition, for files that begin after this.  [local]
    void define(std::uint64_t collection, Definition definition);
    /// Names the file of the next puts. Another one than before ends that one, by a call of its
    /// own, and goes to the front end with the least bytes queued.  [local]
    /// @throws core::Error{Code::wrong_call} within a step
    void name_file(std::uint64_t collection, const std::string& file);
    /// @throws core::Error{Code::wrong_call} if there is no such variable  [local]
    [[nodiscard]] std::uint64_t element_bytes(std::uint64_t collection, std::uint64_t field) const;
    /// Of a piece: this rank has no memory for it.  [local]
    [[nodiscard]] core::Error no_memory(const Data& data) const;
    /// The pieces of this rank of a record of a variable; none is allowed.  [local]
    /// @throws core::Error naming the variable if no file is named, or a piece is none of it
    void put(std::uint64_t collection, std::uint64_t field, std::uint64_t record,
             std::span<const Piece> pieces);
    /// End of a step, close_file or flush. It comes behind what was put.  [local]
    void end(std::uint64_t collection, Ending kind);
    /// Says goodbye to all front ends.  [local]
    /// @throws core::Error{Code::wrong_call} naming the collection if a step was not ended
    void detach();

    /// Whether the goodbye was answered: no message comes any more that matters.  [local]
    [[nodiscard]] bool left() const;
    /// The Error that the goodbye ended with: a last call that only some ranks made.  [local]
    /// @pre  left()
    [[nodiscard]] std::optional<core::Error> farewell() const;

    void receive(std::uint64_t server, const Message& message);  ///< [local]
    /// @param why  what it did; empty: it has left  [local]
    void gone(std::uint64_t server, const std::string& why = {});

    /// What became of an item, if this rank knows it.  [local]
    [[nodiscard]] std::optional<Status> final_of(const Collection& one, const Awaited& item) const;
    /// What is to be sent now, in order per front end.  [local]
    [[nodiscard]] std::vector<Outgoing> take();
    /// The bytes of pieces that were not taken yet are not there any more.  [local]
    void forget_payloads() noexcept;
    /// Whether all pieces that were put have left.  [local]
    [[nodiscard]] bool sent(std::uint64_t collection) const;
    /// Whether all but the last `keep` steps have a status.  [local]
    [[nodiscard]] bool settled(std::uint64_t collection, std::uint64_t keep) const;
    /// Takes those statuses: the same on all ranks, at the same call.  [local]
    /// @pre  settled(collection, keep)
    [[nodiscard]] std::vector<Status> statuses(std::uint64_t collection, std::uint64_t keep);
    [[nodiscard]] const ClientSetup& setup() const noexcept { return x_setup; }  ///< [local]
    [[nodiscard]] const State& state() const noexcept { return x_state; }        ///< [local]

private:
    [[nodiscard]] Collection& at(std::uint64_t collection);
    [[nodiscard]] const Collection& at(std::uint64_t collection) const;
    [[nodiscard]] const FieldDefinition& field_of(const Collection& one, std::uint64_t field) const;
    [[nodiscard]] core::Error gone_error(std::uint64_t server, const std::string& what,
                                         const std::string& file = {}) const;
    void announce(Collection& one, std::uint64_t collection, Ending kind);
    void allow_ahead(Collection& one, std::uint64_t step_bytes) const;
    void pump(Collection& one);
    void let_go(Collection& one);
    [[nodiscard]] std::uint64_t least_loaded() const;

    ClientSetup x_setup;
    State x_state;
    std::vector<Outgoing> x_out;
};

}  // namespace tailrace::server
