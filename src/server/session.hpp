// SPDX-License-Identifier: Apache-2.0
// From a communicator and a layout to a model that puts, and servers that write.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/channel.hpp"
#include "comm/comm.hpp"
#include "server/client/model.hpp"
#include "server/layout/layout.hpp"
#include "server/writer/writer.hpp"

namespace tailrace::server {

class Session {
public:
    /// A rank of a server serves here, until the model ends; one that is left over returns at once.
    /// [collective]
    /// @param published  called with each file that this rank, or rank 0 of the model, has finished
    /// @param expected   bytes of this rank in a step, if they are known by now: memory for them is
    ///                   touched here, not when the first collection comes
    /// @throws core::Error
    Session(const comm::Comm& world, const Layout& layout, Files::Published published = {},
            std::uint64_t expected = 0);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] bool is_model() const noexcept { return x_model != nullptr; }  ///< [local]
    [[nodiscard]] Model& model() { return *x_model; }                            ///< [local]
    [[nodiscard]] const Layout& layout() const noexcept { return x_layout; }     ///< [local]
    /// model().finalize(), and with --with_io_profiler the profile of the model's ranks.
    /// [collective]
    std::vector<Status> finalize();
    /// Of a rank of the model that ends in a hurry: open files get no name, servers need not wait.
    /// [local]
    void give_up() noexcept;
    /// The ranks of the model, or those of the servers, or those left over.  [local]
    [[nodiscard]] const comm::Comm& ranks() const noexcept { return x_ranks; }

private:
    void write_profile(const std::string& of);
    void close();

    Layout x_layout;
    comm::Comm x_ranks;
    comm::Channel x_channel;
    std::unique_ptr<Profiler> x_profiler, x_writing;  // of this thread, and of the one that writes
    std::unique_ptr<Model> x_model;
    int x_exceptions = std::uncaught_exceptions();
};

}  // namespace tailrace::server
