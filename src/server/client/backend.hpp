// SPDX-License-Identifier: Apache-2.0
// Who writes the files of a model: other ranks, or the ranks of the model themselves. To the model
// both look alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/sink.hpp"
#include "server/metadata/collection.hpp"
#include "server/protocol/client.hpp"

namespace tailrace::server {

/// What the protocol has to know of the files of a collection.  [local]
[[nodiscard]] Definition definition_of(const FileSpec& spec);

/// Messages of this rank so far.
struct Traffic {
    std::uint64_t sent = 0, received = 0;
};

class Backend {
public:
    virtual ~Backend() = default;
    /// @returns its number, the same on all ranks  [collective, waits for nobody]
    virtual std::uint64_t add_collection(std::string name, Definition definition) = 0;
    /// Other metadata for the files from now on.  [collective, waits for nobody]
    virtual void define(std::uint64_t collection, Definition definition) = 0;
    /// A block of a record of a variable, from memory that is free again afterwards. It ends the
    /// file of before if that has another name.  [collective, waits for room alone]
    /// @param block   empty: this rank has nothing
    /// @param data    nullptr: this rank has nothing
    /// @param memory  how the block lies at `data`; empty: packed
    /// @throws core::Error on this rank alone, for what it can see by itself
    virtual void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
                     std::uint64_t record, const core::Box& block, const std::byte* data,
                     const core::MemLayout& memory) = 0;
    /// @returns what became of the items before the last `depth` steps, the same on all ranks
    /// [collective]
    virtual std::vector<Status> end_step(std::uint64_t collection) = 0;
    /// Ends the file, whose status comes with a later call.  [collective]
    /// @param outcome  discard: also within a step; the file of before stays
    virtual void end_file(std::uint64_t collection, core::Outcome outcome) = 0;
    virtual std::vector<Status> close_file(std::uint64_t collection) = 0;  ///< all  [collective]
    virtual std::vector<Status> flush(std::uint64_t collection) = 0;       ///< all  [collective]
    [[nodiscard]] virtual Traffic traffic() const noexcept = 0;            ///< [local]
    /// The first failure that has been heard of; never waits.  [local]
    [[nodiscard]] virtual std::optional<core::Error> heard() = 0;
    /// Whether a server counts as lost: it says no goodbye.  [local]
    [[nodiscard]] virtual bool lost_servers() const = 0;
    /// Takes the last statuses, and says goodbye.  [collective]
    /// @throws core::Error on all ranks if they made different calls
    virtual std::vector<Status> finalize() = 0;
};

}  // namespace tailrace::server
