// SPDX-License-Identifier: Apache-2.0
// A rank of the model whose files other ranks write.
#pragma once

#include <functional>

#include "comm/channel.hpp"
#include "server/buffer/buffers.hpp"
#include "server/buffer/slots.hpp"
#include "server/client/backend.hpp"
#include "server/frontend/neighbours.hpp"

namespace tailrace::server {

/// Clients are the ranks 0 to setup.clients - 1 of the channel.
class Remote final : public Backend {
public:
    /// Front ends are the ranks behind the clients.  [local]
    Remote(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours = {});
    /// @param first_server  rank of the first front end
    /// @param beside        called again and again while this rank waits; true if it did something
    /// [local]
    Remote(comm::Channel& channel, const ClientSetup& setup, Neighbours neighbours,
           int first_server, std::function<bool()> beside);

    std::uint64_t add_collection(std::string name, Definition definition) override;
    void define(std::uint64_t collection, Definition definition) override;
    void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
             std::uint64_t record, const core::Box& block, const std::byte* data,
             const core::MemLayout& memory = {}) override;
    std::vector<Status> end_step(std::uint64_t collection) override;
    void end_file(std::uint64_t collection, core::Outcome outcome) override;
    std::vector<Status> close_file(std::uint64_t collection) override;
    std::vector<Status> flush(std::uint64_t collection) override;
    [[nodiscard]] Traffic traffic() const noexcept override { return x_traffic; }
    [[nodiscard]] std::optional<core::Error> heard() override;
    std::vector<Status> finalize() override;
    [[nodiscard]] bool lost_servers() const override { return x_lost; }
    [[nodiscard]] const Client::Collection& collection(std::uint64_t number) const {
        return x_machine.state().collections.at(number);
    }

private:
    /// The block that is being put, if any.
    struct Block {
        core::Box box;
        const std::byte* data = nullptr;
        core::MemLayout memory;
        std::uint64_t element_bytes = 0;
    };
    bool send(const Block& block);
    void send(Outgoing one, const Block& block);
    [[nodiscard]] std::optional<std::uint64_t> slot_for(int rank, std::uint64_t bytes);
    bool move_on(const Block& block);
    void hear_of_lost();
    void lose(std::uint64_t server);
    void count_silence(comm::Clock::duration waited);
    template <class Condition>
    void until(const Condition& reached, const Block& block);

    comm::Channel& x_channel;
    Client x_machine;
    Traffic x_traffic;
    Neighbours x_neighbours;
    Slots x_slots;
    Buffers x_buffers;
    std::uint64_t x_expected = 0;  // bytes of this rank in a step of all collections
    int x_first_server;
    std::function<bool()> x_beside;
    std::vector<comm::Pending> x_lives;  // per front end: ends when it goes
    std::vector<double> x_silence;       // per front end: seconds of this wait without a word
    bool x_lost = false;                 // one of them was silent for too long
};

}  // namespace tailrace::server
