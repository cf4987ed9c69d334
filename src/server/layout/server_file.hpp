// SPDX-License-Identifier: Apache-2.0
// server.toml: keys of the whole server, and one Config per collection.
#pragma once

#include <map>
#include <string>

#include "core/config.hpp"
#include "server/layout/layout.hpp"

namespace tailrace::server {

/// Adds the global keys to `options`.
/// @returns one Config per table [collections.NAME], not finished
/// @throws core::Error naming file:line, value and remedy  [local]
[[nodiscard]] std::map<std::string, core::Config> read_toml(const ServerFile& file,
                                                            core::Config& options);

}  // namespace tailrace::server
