// SPDX-License-Identifier: Apache-2.0
// From the plan to its flat form.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "intent/plan/model.hpp"

namespace tailrace::intent::plan {

/// XXH3-128 of bytes as 32 hexadecimal digits: core::hash_hex, or where the Python package was
/// built without xxHash that of its wheel.
using Hasher = std::function<std::string(std::span<const std::byte>)>;

/// The compiled form; the same plan gives the same bytes. Reasons, advice and what was held back
/// are not in it.  [local]
/// @param where  file name for messages
/// @throws Error{bad_input} where a setting is wrong or it has more than 512 KiB
[[nodiscard]] std::vector<std::byte> compile(const Plan& plan, const std::string& where,
                                             const Hasher& hasher);
/// Bytes of the compiled form, however many.  [local]
[[nodiscard]] std::size_t compiled_bytes(const Plan& plan);
/// The hash that is in the compiled form; it holds for the environment too.  [local]
[[nodiscard]] std::string hash_of(const Plan& plan, const std::string& where, const Hasher& hasher);

}  // namespace tailrace::intent::plan
