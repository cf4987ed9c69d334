// SPDX-License-Identifier: Apache-2.0
// Who writes the files of a model: other ranks, or rank 0 of the model, which serves too whenever
// it is in a call. To the model both look alike: the protocol is that of servers in both, so that a
// call that a rank leaves out is an error and no deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/channel.hpp"
#include "core/sink.hpp"
#include "server/buffer/buffers.hpp"
#include "server/buffer/slots.hpp"
#include "server/frontend/neighbours.hpp"
#include "server/frontend/serve.hpp"
#include "server/metadata/collection.hpp"
#include "server/protocol/client.hpp"

namespace tailrace::server {

/// What the protocol has to know of the files of a collection.  [local]
[[nodiscard]] Definition definition_of(const FileSpec& spec);

/// Messages of this rank so far.
struct Traffic {
    std::uint64_t sent = 0, received = 0;
};

/// Clients are the ranks 0 to setup.clients - 1 of the channel.
class Backend {
public:
    /// Front ends are the ranks behind the clients.  [local]
    Backend(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours = {});
    /// Without servers: what a step puts is written by rank 0 when end_step() returns.  [local]
    Backend(comm::Channel& channel, const ClientSetup& setup, const Neighbours& neighbours,
            WriteWork write);

    /// @returns its number, the same on all ranks  [collective, waits for nobody]
    std::uint64_t add_collection(std::string name, Definition definition);
    /// Other metadata for the files from now on.  [collective, waits for nobody]
    void define(std::uint64_t collection, Definition definition);
    /// A block of a record of a variable, from memory that is free again afterwards. It ends the
    /// file of before if that has another name.  [collective, waits for room alone]
    /// @param block   empty: this rank has nothing
    /// @param data    nullptr: this rank has nothing
    /// @param memory  how the block lies at `data`; empty: packed
    /// @throws core::Error on this rank alone, for what it can see by itself
    void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
             std::uint64_t record, const core::Box& block, const std::byte* data,
             const core::MemLayout& memory = {});
    /// @returns what became of the items before the last `depth` steps, the same on all ranks
    /// [collective]
    std::vector<Status> end_step(std::uint64_t collection);
    /// Ends the file, whose status comes with a later call.  [collective]
    /// @param outcome  discard: also within a step; the file of before stays
    void end_file(std::uint64_t collection, core::Outcome outcome);
    std::vector<Status> close_file(std::uint64_t collection);             ///< all  [collective]
    std::vector<Status> flush(std::uint64_t collection);                  ///< all  [collective]
    [[nodiscard]] Traffic traffic() const noexcept { return x_traffic; }  ///< [local]
    /// The first failure that has been heard of; never waits.  [local]
    [[nodiscard]] std::optional<core::Error> heard();
    /// Whether a server counts as lost: it says no goodbye.  [local]
    [[nodiscard]] bool lost_servers() const { return x_lost; }
    /// Takes the last statuses, and says goodbye.  [collective]
    /// @throws core::Error on all ranks if they made different calls
    std::vector<Status> finalize();
    [[nodiscard]] const Client::Collection& collection(std::uint64_t number) const {
        return x_machine.state().collections.at(number);
    }

private:
    Backend(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours,
            int first_server);

    /// The block that is being put, if any.
    struct Block {
        core::Box box;
        const std::byte* data = nullptr;
        core::MemLayout memory;
        std::uint64_t element_bytes = 0;
    };
    bool send(const Block& block);
    void send(Outgoing& one, const Block& block);
    [[nodiscard]] std::optional<std::uint64_t> slot_for(int rank, std::uint64_t bytes);
    bool move_on(const Block& block);
    void hear_of_lost();
    void lose(std::uint64_t server);
    void count_silence(comm::Clock::duration waited);
    template <class Condition>
    void until(const Condition& reached, const Block& block);

    comm::Channel& x_channel;
    Client x_machine;
    std::vector<Outgoing> x_unsent;  // that the machine gave, and how many of them have left
    std::size_t x_left = 0;
    Traffic x_traffic;
    Neighbours x_neighbours;
    Slots x_slots;
    Buffers x_buffers;
    std::uint64_t x_expected = 0;  // bytes of this rank in a step of all collections
    int x_first_server;
    std::optional<Server> x_server;      // on rank 0, if there are no others
    std::vector<comm::Pending> x_lives;  // per front end: ends when it goes
    std::vector<double> x_silence;       // per front end: seconds of this wait without a word
    bool x_lost = false;                 // one of them was silent for too long
};

}  // namespace tailrace::server
