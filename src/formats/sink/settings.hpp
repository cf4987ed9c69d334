// SPDX-License-Identifier: Apache-2.0
// Settings in force, as reports have them.
#pragma once

#include <map>
#include <string>

#include "comm/comm.hpp"

namespace tailrace::formats {

/// The settings of rank 0 on all ranks: it alone has looked at the finished file.  [collective]
[[nodiscard]] std::map<std::string, std::string> broadcast_settings(
    const comm::Comm& comm, const std::map<std::string, std::string>& mine);

}  // namespace tailrace::formats
