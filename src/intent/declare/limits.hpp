// SPDX-License-Identifier: Apache-2.0
// What those who write declarations and those who read them have to have in common; also for hooks,
// which are without a C++ run-time library.
#pragma once

#include <cstddef>

namespace tailrace::intent::declare {

inline constexpr char property[] = "tailrace_intent";      ///< on property lists, with a zero byte
inline constexpr std::size_t most_list_bytes = 4096;       ///< of JSON on a property list
inline constexpr std::size_t most_document_bytes = 65536;  ///< of a file, or in the environment

}  // namespace tailrace::intent::declare
