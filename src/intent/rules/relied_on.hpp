// SPDX-License-Identifier: Apache-2.0
// Layouts that a program relies on: with another one it fails. Internal to src/intent/rules.
#pragma once

#include <optional>

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

/// Whole chunks that a program writes past HDF5 have the shape and the filters that it knows.
/// [local]
[[nodiscard]] std::optional<Held> held_by_direct_chunks(const Subject& s);
/// What has chunks, or lies in a header, has no address that a program could go on at by itself;
/// and some libraries look at the chunks of what they made.  [local]
[[nodiscard]] std::optional<Held> held_by_reliance(const Subject& s);
/// Why a setting of this key would break what the program does; nothing: it would not.  [local]
[[nodiscard]] std::optional<Held> held_by_use(const std::string& key, const Subject& s);

}  // namespace tailrace::intent::rules
