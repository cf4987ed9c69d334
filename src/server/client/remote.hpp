// SPDX-License-Identifier: Apache-2.0
// A rank of the model whose files other ranks write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/channel.hpp"
#include "core/sink.hpp"
#include "server/metadata/metadata.hpp"
#include "server/protocol/client.hpp"

namespace tailrace::server {

/// What the protocol has to know of the files of a collection.  [local]
[[nodiscard]] Definition definition_of(const FileMetadata& metadata, std::uint64_t limit_bytes,
                                       WhenFull when_full);

/// Clients are the ranks 0 to setup.clients - 1 of the channel, front ends those behind them.
class Remote {
public:
    Remote(comm::Channel& channel, const ClientSetup& setup);  ///< [local]

    /// @returns its number, the same on all ranks  [collective, waits for nobody]
    std::uint64_t add_collection(std::string name, Definition definition);
    /// Other metadata for the files from now on.  [collective, waits for nobody]
    void define(std::uint64_t collection, Definition definition);
    /// A block of a record of a variable, from memory that is free again afterwards. Waits for
    /// credit alone.  [collective]
    /// @param block   empty: this rank has nothing
    /// @param memory  how the block lies at `data`; empty: packed
    /// @throws core::Error on this rank alone, for what it can see by itself
    void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
             std::uint64_t record, const core::Box& block, const std::byte* data,
             const core::MemLayout& memory = {});
    /// @returns what became of the items before the last `depth` steps, the same on all ranks
    /// [collective]
    std::vector<Status> end_step(std::uint64_t collection);
    std::vector<Status> close_file(std::uint64_t collection);  ///< all statuses  [collective]
    std::vector<Status> flush(std::uint64_t collection);       ///< all statuses  [collective]
    /// Takes the last statuses, and says goodbye.  [collective]
    /// @throws core::Error on all ranks if they made different calls
    std::vector<Status> finalize();

private:
    /// The block that is being put, if any.
    struct Block {
        core::Box box;
        const std::byte* data = nullptr;
        core::MemLayout memory;
        std::uint64_t element_bytes = 0;
    };
    void send(const Block& block);
    void move_on(const Block& block);
    template <class Condition>
    void until(const Condition& reached, const Block& block);

    comm::Channel& x_channel;
    Client x_machine;
    std::vector<comm::Pending> x_lives;  // per front end: ends when it goes
};

}  // namespace tailrace::server
