// SPDX-License-Identifier: Apache-2.0
// Names are bytes, and documents are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tailrace::intent::spool {

/// The text with each byte that is no part of UTF-8 as \xNN, as the Python package shows it, so
/// that two names stay two.  [local]
[[nodiscard]] std::string readable(std::string_view text);

}  // namespace tailrace::intent::spool
