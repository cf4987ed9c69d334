// SPDX-License-Identifier: Apache-2.0
// What a front end does, without transport: messages of clients go in; messages to them, and events
// for the next stage, come out. Why nobody waits for ever: client.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "server/buffer/byte_queue.hpp"
#include "server/protocol/agreement.hpp"
#include "server/protocol/message.hpp"

namespace tailrace::server {

struct FrontEndSetup {
    std::uint64_t server = 0;  ///< number 0 compares the calls of all clients
    std::uint64_t clients = 1;
    std::uint64_t layout_hash = 0;
    std::uint64_t credit_bytes = std::uint64_t{16} << 20;  ///< as the clients have it, or less
    double beat_s = 0;  ///< a sign of life every so often; 0: none
};

/// For the next stage, in the order in which it is to be done. Pieces of one client and collection
/// are accepted or discarded in the order in which they came.
struct FileBegins {
    Meta meta;  ///< the first that came, and again the one with a body, maybe after a later file
};
struct Accepted {
    std::uint64_t client = 0;
    Data data;
};
struct Discarded {
    std::uint64_t client = 0;
    Data data;
};
/// What was accepted of an item is not written: it failed, or will never be complete.
struct Dropped {
    std::uint64_t collection = 0;
    Item item = 0;
    std::uint64_t file_seq = 0;
    std::optional<core::Error> error{};  ///< unset: clients disagree
};
/// All clients ended an item: write it, then call written().
struct Complete {
    std::uint64_t collection = 0, file_seq = 0;
    Item item = 0;
    Ending kind = Ending::step;
};
using Event = std::variant<FileBegins, Accepted, Discarded, Dropped, Complete>;

/// A message to a client.
struct Reply {
    std::uint64_t to = 0;
    Message message;
};

class FrontEnd {
public:
    using Record = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // file, field, record
    /// A step or another ending, from its first message to its status.
    struct Open {
        std::uint64_t missing = 0;  ///< clients that have not ended it
        Ending kind = Ending::step;
        std::uint64_t file_seq = 0;
        std::map<Record, std::uint64_t> records{};              ///< that have bytes in the queue
        std::optional<std::uint64_t> meta_hash{}, call_hash{};  ///< of the first that ended it
        std::optional<core::Error> error{};
        bool disputed = false;  ///< clients made different calls: front end 0 says so
        bool handed = false;    ///< to the next stage
    };
    /// What one client sent of a collection.
    struct Line {
        std::deque<Message> parked{};      ///< not taken over yet, in order
        std::optional<Item> last_ended{};  ///< of those that came, parked ones too
        std::string file{};                ///< that it named last
        Item item = 0;                     ///< the one being received
        std::uint64_t messages = 0, bytes = 0;
        std::uint64_t owed = 0;  ///< credit that goes back with the next message
    };
    struct Collection {
        std::string name;
        WhenFull when_full = WhenFull::block;
        ByteQueue queue{};
        std::optional<std::uint64_t> begun{};  ///< the last file
        std::map<Item, Open> items{};
        std::vector<Line> lines{};
        bool freed = false;  ///< what waits may go on
    };
    struct State {
        std::map<std::uint64_t, Collection> collections;
        std::vector<bool> gone, detached;  ///< per client
        Agreement agreement;
        bool farewell = false;  ///< all clients were told that the end is the same for all
    };

    explicit FrontEnd(const FrontEndSetup& setup);
    /// @throws core::Error{Code::internal} if it is none that clients send
    void receive(std::uint64_t client, const Message& message);  ///< [local]
    void gone(std::uint64_t client);                             ///< [local]
    /// The next stage is done with a complete item.  [local]
    void written(std::uint64_t collection, Item item, const std::optional<core::Error>& error,
                 const std::optional<Figures>& figures = {});

    [[nodiscard]] std::vector<Reply> take_replies() { return std::exchange(x_replies, {}); }
    [[nodiscard]] std::vector<Event> take_events() { return std::exchange(x_events, {}); }
    /// All clients have left, and nothing is with the next stage.  [local]
    [[nodiscard]] bool done() const;
    [[nodiscard]] const FrontEndSetup& setup() const noexcept { return x_setup; }  ///< [local]
    [[nodiscard]] const State& state() const noexcept { return x_state; }          ///< [local]

private:
    void tell_all(const Message& told);
    void compared(const std::optional<Disagreement>& told);
    void left(std::uint64_t client);
    [[nodiscard]] Collection& of(std::uint64_t collection);
    Open& open(Collection& one, Item item);
    void go_on(std::uint64_t collection, std::uint64_t client);
    void go_on(std::uint64_t collection);
    bool advance(std::uint64_t collection, std::uint64_t client);
    bool take_over(Collection& one, std::uint64_t client, const Data& data);
    void begin_file(Collection& one, std::uint64_t client, const Meta& meta);
    void end_item(Collection& one, std::uint64_t client, const End& end);
    void fail(Collection& one, std::uint64_t collection, Item item, core::Error error);
    void complete(Collection& one, std::uint64_t collection, Item item);
    void finish(std::uint64_t collection, Item item, const std::optional<core::Error>& error,
                const std::optional<Figures>& figures = {});
    void give_back(std::uint64_t client, std::uint64_t collection, std::uint64_t bytes);
    [[nodiscard]] core::Error left_error(const Collection& one, std::uint64_t client,
                                         Item item) const;

    FrontEndSetup x_setup;
    State x_state;
    std::vector<Reply> x_replies;
    std::vector<Event> x_events;
};

}  // namespace tailrace::server
