// SPDX-License-Identifier: Apache-2.0
// A model without servers: its own ranks write, together, at the end of each step. Rank 0 compares
// the calls of all ranks first, as a front end does, so that a call that one of them leaves out is
// an error and no deadlock.
#pragma once

#include <memory>
#include <optional>

#include "server/client/remote.hpp"
#include "server/writer/writer.hpp"

namespace tailrace::server {

class Embedded final : public Backend {
public:
    /// @param model    all ranks of the model
    /// @param channel  between them  [local]
    Embedded(const comm::Comm& model, comm::Channel& channel, const ClientSetup& setup,
             Files::Published published = {});

    std::uint64_t add_collection(std::string name, Definition definition) override;
    void define(std::uint64_t collection, Definition definition) override;
    /// Copies the block: nobody waits for another rank here.
    void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
             std::uint64_t record, const core::Box& block, const std::byte* data,
             const core::MemLayout& memory) override;
    std::vector<Status> end_step(std::uint64_t collection) override;
    void end_file(std::uint64_t collection) override;
    std::vector<Status> close_file(std::uint64_t collection) override;
    std::vector<Status> flush(std::uint64_t collection) override;
    [[nodiscard]] std::optional<core::Error> heard() override { return x_heard; }
    std::vector<Status> finalize() override;

private:
    struct Held {
        std::uint64_t field = 0, record = 0;
        std::optional<core::Box> block;  // unset: nothing
        std::size_t begin = 0;           ///< in the arena
    };
    struct Collection {
        FileSpec spec;
        std::vector<Held> held;
        std::vector<std::byte> arena;  // it keeps its size: its pages are touched once
        std::size_t used = 0;
        std::vector<Status> late;  // of files that ended within a step
    };
    /// The statuses that the ranks agree on, and with them that of what they do together now.
    template <class Work>
    std::vector<Status> together(std::uint64_t collection, std::vector<Status> agreed,
                                 const Work& work);
    void write_held(std::uint64_t collection);

    std::optional<Server> x_witness;  // on rank 0
    Remote x_calls;
    Files x_files;
    std::vector<Collection> x_collections;
    std::optional<core::Error> x_heard;
};

}  // namespace tailrace::server
