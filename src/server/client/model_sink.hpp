// SPDX-License-Identifier: Apache-2.0
// A Sink whose files a server writes, for programs that know Sinks. The files of one opener are a
// collection, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "server/client/model.hpp"

namespace tailrace::server {

/// What the Sinks of one collection share.
struct Series {
    std::string name;                           ///< of the collection
    CollectionOptions options{};                ///< existing is that of each Target
    Storage storage{};                          ///< of variables with dimensions
    std::optional<std::uint64_t> collection{};  ///< once the first file was defined
    std::vector<Figures> heard{};               ///< that came with its statuses
};

/// The next file of a series. Objects are dense or records of a number type, names without groups;
/// pieces of records have one record each. Every rank writes the same objects in the same order,
/// with an empty piece if it has nothing. post_close() waits for nobody: the status comes with
/// wait(). A file that is discarded never gets its name.  [collective]
/// @param series  outlives the Sink
[[nodiscard]] std::unique_ptr<core::Sink> model_sink(Model& model, const comm::Comm& comm,
                                                     Series& series, const core::Target& target,
                                                     core::Phases& phases);

}  // namespace tailrace::server
