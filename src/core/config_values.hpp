// SPDX-License-Identifier: Apache-2.0
// From a text to the value of a key. Internal to the configuration.
#pragma once

#include <string>
#include <string_view>

#include "core/config.hpp"

namespace tailrace::core {

/// The value of `key` in `text` (blanks at both ends taken away).  [local]
/// @throws Error{Code::bad_input} with `place` and what an input line should look like
[[nodiscard]] Value value_of(const Key& key, std::string_view text, const std::string& place);
/// The text of a value as an input line gives it; `text` where it stays as it was.  [local]
[[nodiscard]] std::string canonical(const Value& value, std::string_view text);
/// An Error about a value of `key`; its remedy is the key's usage.  [local]
[[nodiscard]] Error bad_value(const Key& key, const std::string& place, const std::string& message);
[[nodiscard]] constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// Without blanks at both ends.  [local]
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// `parts` with `between` between them.  [local]
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view between);
/// ASCII letters in lower case.  [local]
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace tailrace::core
