// SPDX-License-Identifier: Apache-2.0
// The form of AMReX's inputs.
#pragma once

#include <string>
#include <vector>

#include "core/config.hpp"

namespace tailrace::kernels::amr {

/// Lines `key = value` as lines `key value`, under their own numbers: values that go on in the next
/// line in one, and only the last of a key that may stand once. Lines in our own form stay. [local]
/// @throws core::Error{bad_input} if a line is of neither form
[[nodiscard]] std::string lines_of(const core::KeyTable& table, const std::string& text,
                                   const std::string& origin);

/// Arguments of which only the last of a key that may stand once is left.  [local]
[[nodiscard]] std::vector<std::string> last_of_each(const core::KeyTable& table,
                                                    const std::vector<std::string>& arguments);

}  // namespace tailrace::kernels::amr
