// SPDX-License-Identifier: Apache-2.0
// What the opaque types of tailrace/server.h are.
#pragma once

#include <deque>
#include <optional>

#include "comm/comm.hpp"
#include "comm/mpi_end.hpp"
#include "server/metadata/metadata.hpp"
#include "server/session.hpp"

struct tailrace_metadata {
    tailrace::server::FileMetadata own;
    tailrace::server::FileMetadata* collection = nullptr;  ///< set: of a collection
    [[nodiscard]] tailrace::server::FileMetadata& get() { return collection ? *collection : own; }
    [[nodiscard]] const tailrace::server::FileMetadata& get() const {
        return collection ? *collection : own;
    }
};

struct tailrace_server {
    tailrace::comm::Comm world;
    std::optional<tailrace::server::Session> session{};
    std::deque<tailrace_metadata> collections{};  // they stay where they are
    std::optional<tailrace::comm::AtMpiEnd> last_word{};
};

namespace tailrace::bindings {

/// @throws core::Error{Code::bad_input} for a number that is none  [local]
[[nodiscard]] server::Element element(tailrace_type type);

}  // namespace tailrace::bindings
