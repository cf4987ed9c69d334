// SPDX-License-Identifier: Apache-2.0
// A model without servers: rank 0 of it serves too, whenever it is in a call. What a step puts is
// written when end_step() returns. The protocol is that of servers, so that a call that a rank
// leaves out is an error and no deadlock, and each file is written by one process, the serial way.
#pragma once

#include <optional>

#include "server/client/remote.hpp"
#include "server/frontend/serve.hpp"

namespace tailrace::server {

class Embedded final : public Backend {
public:
    /// @param channel  between the ranks of the model  [local]
    Embedded(comm::Channel& channel, const ClientSetup& setup, WriteWork write,
             const Neighbours& neighbours);

    std::uint64_t add_collection(std::string name, Definition definition) override {
        return x_calls.add_collection(std::move(name), std::move(definition));
    }
    void define(std::uint64_t collection, Definition definition) override {
        x_calls.define(collection, std::move(definition));
    }
    void put(std::uint64_t collection, const std::string& file, std::uint64_t field,
             std::uint64_t record, const core::Box& block, const std::byte* data,
             const core::MemLayout& memory) override {
        x_calls.put(collection, file, field, record, block, data, memory);
    }
    std::vector<Status> end_step(std::uint64_t collection) override {
        return x_calls.end_step(collection);
    }
    void end_file(std::uint64_t collection, core::Outcome outcome) override {
        x_calls.end_file(collection, outcome);
    }
    std::vector<Status> close_file(std::uint64_t collection) override {
        return x_calls.close_file(collection);
    }
    std::vector<Status> flush(std::uint64_t collection) override {
        return x_calls.flush(collection);
    }
    [[nodiscard]] Traffic traffic() const noexcept override { return x_calls.traffic(); }
    [[nodiscard]] std::optional<core::Error> heard() override { return x_calls.heard(); }
    [[nodiscard]] bool lost_servers() const override { return false; }
    std::vector<Status> finalize() override;

private:
    std::optional<Server> x_server;  // on rank 0
    Remote x_calls;
};

}  // namespace tailrace::server
