// SPDX-License-Identifier: Apache-2.0
// The door to the interposer for a program that links it.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::hooks::posix {

/// Makes the interposer this process's core::IoObserver. Call it at the start of main.  [local]
/// @throws core::Error{Code::bad_input} where TAILRACE_FAULT is malformed
void install();

/// Calls that found no place in the tables (more than 4096 files, or a signal handler that came at
/// a bad moment); their file is not known.  [local]
[[nodiscard]] std::uint64_t unattributed_calls() noexcept;

/// Replaces the fault rules, for tests; "" ends them.  [local]
/// @throws core::Error{Code::bad_input} naming the rule; then no rule is in force
void inject_faults(const std::string& rules);

}  // namespace tailrace::hooks::posix
