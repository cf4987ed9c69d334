// SPDX-License-Identifier: Apache-2.0
// Declarations by pattern that hold in this process now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "intent/declare/declaration.hpp"
#include "intent/declare/match.hpp"

namespace tailrace::declaring {

inline constexpr std::size_t most_scopes = 64;

/// Adds one; what is added later wins. Its token, never 0.  [local]
/// @throws core::Error{bad_input} where there are too many already
[[nodiscard]] std::uint64_t push(intent::declare::Document document);
/// Takes it back, in any order; false where there is no such one.  [local]
[[nodiscard]] bool pop(std::uint64_t token);
/// What is declared of a file now, as a text for a list; empty: nothing.  [local]
[[nodiscard]] std::string declared_of(const intent::declare::Names& names);

}  // namespace tailrace::declaring
