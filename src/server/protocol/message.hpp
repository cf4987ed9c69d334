// SPDX-License-Identifier: Apache-2.0
// What clients and front ends tell each other, and how it looks as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/box.hpp"
#include "core/error.hpp"
#include "server/archive.hpp"
#include "server/buffer/byte_queue.hpp"

namespace tailrace::server {

inline constexpr std::uint64_t protocol_version = 3;
inline constexpr std::uint64_t no_collection = ~std::uint64_t{0};

/// Calls that all clients make in the same order. A step, close_file and flush are items of their
/// collection and have a final status.
enum class Ending : std::uint64_t { step, close_file, flush, discard_file, add_collection, detach };
[[nodiscard]] constexpr Ending last_of(Ending) { return Ending::detach; }  ///< [local]

/// First word of a client to each front end.
struct Hello {
    std::uint64_t clients = 0;
    std::uint64_t layout_hash = 0;  ///< of how ranks are shared out, and of slab and credit
    static void fields(auto& io, auto& m) { io.all(m.clients, m.layout_hash); }
};

/// How much of a collection may wait for its writer.
struct QueueBounds {
    std::uint64_t limit_bytes = 0;
    std::uint64_t step_bytes = 0;  ///< of all variables, one record each
    WhenFull when_full = WhenFull::block;
    static void fields(auto& io, auto& m) { io.all(m.limit_bytes, m.step_bytes, m.when_full); }
};

/// A file begins. Every client says so; the body comes from client 0 alone, and only if the server
/// does not have it yet.
struct Meta {
    std::uint64_t collection = 0, file_seq = 0;
    std::string collection_name{}, file{};
    QueueBounds bounds{};
    std::uint64_t meta_hash = 0;
    std::vector<std::byte> body{};
    static void fields(auto& io, auto& m) {
        io.all(m.collection, m.file_seq, m.collection_name, m.file, m.bounds, m.meta_hash, m.body);
    }
};

/// One piece of a variable: `payload_bytes` of packed elements, behind the message or in a slot.
/// One that is lost is sent all the same, so that its item fails on all ranks and nobody waits for
/// it.
struct Data {
    std::uint64_t collection = 0, file_seq = 0;
    Item item = 0;
    std::uint64_t field = 0, record = 0;
    std::uint64_t element_bytes = 0;
    core::Extents extents{};  ///< of one record of the whole variable
    core::Box place{};
    std::uint64_t seq = 0;  ///< 0, 1, ... among the pieces of this client and item
    std::uint64_t payload_bytes = 0;
    std::optional<std::uint64_t> slot{};  ///< where in the memory that its client shares
    std::string variable{};               ///< for messages to a person: the body may come later
    std::optional<core::Error> lost{};    ///< set: nobody has its elements any more
    static void fields(auto& io, auto& m) {
        io.all(m.collection, m.file_seq, m.item, m.field, m.record, m.element_bytes, m.extents,
               m.place.offset, m.place.count, m.seq, m.payload_bytes, m.slot, m.variable, m.lost);
    }
};

/// STEP_END, CLOSE_FILE, FLUSH, DETACH: to the front end that has the file; detach: to all.
struct End {
    Ending kind = Ending::step;
    std::uint64_t collection = no_collection, file_seq = 0;
    Item item = 0;
    std::uint64_t messages = 0, bytes = 0;  ///< of Data that this client sent for the item
    std::uint64_t meta_hash = 0;
    std::uint64_t call_hash = 0;  ///< over all calls of this client so far
    static void fields(auto& io, auto& m) {
        io.all(m.kind, m.collection, m.file_seq, m.item, m.messages, m.bytes, m.meta_hash,
               m.call_hash);
    }
};

/// A variable as a rank puts it.
struct PutCall {
    std::string variable;
    std::uint64_t definition = 0;  ///< hash of type and shape
    static void fields(auto& io, auto& m) { io.all(m.variable, m.definition); }
    friend bool operator==(const PutCall&, const PutCall&) = default;
};
/// What a call consists of, as errors name it.
struct CallText {
    std::string collection, file;
    std::vector<PutCall> puts{};
    static void fields(auto& io, auto& m) { io.all(m.collection, m.file, m.puts); }
    friend bool operator==(const CallText&, const CallText&) = default;
};
/// Every call, at once, to front end 0, which alone sees whether all clients make the same ones.
struct Call {
    std::uint64_t call = 0;  ///< 0, 1, ... over all collections
    Ending kind = Ending::step;
    std::uint64_t collection = no_collection;
    Item item = 0;
    std::uint64_t server = 0;  ///< that has the file
    std::uint64_t meta_hash = 0, text_hash = 0;
    std::optional<CallText> text{};  ///< if the last one of the collection was another one
    static void fields(auto& io, auto& m) {
        io.all(m.call, m.kind, m.collection, m.item, m.server, m.meta_hash, m.text_hash, m.text);
    }
};

/// What a front end has counted since it last told, with the end of a file.
struct Figures {
    std::uint64_t server = 0;
    std::optional<double> file_s{};  ///< from the first data of the file until it had its name
    std::uint64_t queue_bytes = 0, queue_items = 0;  ///< the most that waited at once
    std::uint64_t sent = 0, received = 0;            ///< messages
    double cpu_s = 0;                                ///< of the whole process
    static void fields(auto& io, auto& m) {
        io.all(m.server, m.file_s, m.queue_bytes, m.queue_items, m.sent, m.received, m.cpu_s);
    }
};
/// What became of an item: nothing is all is well.
struct Status {
    Item item = 0;
    std::optional<core::Error> error{};
    std::optional<Figures> figures{};  ///< of close_file and flush
    static void fields(auto& io, auto& m) { io.all(m.item, m.error, m.figures); }
};
/// Bytes that the next stage took over, and what became of items. Of no collection: all clients
/// said goodbye.
struct Credit {
    std::uint64_t collection = 0, bytes = 0;
    std::vector<Status> statuses{};
    static void fields(auto& io, auto& m) { io.all(m.collection, m.bytes, m.statuses); }
};
/// Clients made different calls: no item from `call` on is written.
struct Disagreement {
    std::uint64_t call = 0;
    core::Error error{core::Code::internal, ""};
    static void fields(auto& io, auto& m) { io.all(m.call, m.error); }
};

using Message = std::variant<Hello, Meta, Data, End, Call, Credit, Disagreement>;

/// "a.nc4, variable T, record 3", of a record from 0 on.  [local]
[[nodiscard]] std::string place_text(const std::string& file, const std::string& variable,
                                     std::uint64_t record);
/// How many bytes follow the message.  [local]
[[nodiscard]] std::uint64_t bytes_behind(const Message& message);
/// The bytes of a message without its payload.  [local]
[[nodiscard]] std::vector<std::byte> encode(const Message& message);
/// A message and the payload behind it, which lies in `bytes`.  [local]
/// @throws core::Error{Code::data_lost} if bytes are damaged, missing or too many, unsupported for
/// those of another version
[[nodiscard]] std::pair<Message, std::span<const std::byte>> decode(
    std::span<const std::byte> bytes);

}  // namespace tailrace::server
