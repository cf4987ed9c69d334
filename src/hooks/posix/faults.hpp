// SPDX-License-Identifier: Apache-2.0
// Faults on demand, for tests: TAILRACE_FAULT. The grammar stands in docs/developer/interposer.md.
#pragma once

#include <stdint.h>

namespace tailrace::hooks::posix {

enum class Op : uint8_t { open, write, read, fsync, ftruncate, fallocate, rename, close, unlink };

/// What is to happen instead of a call.
struct Verdict {
    int error = 0;         ///< fail with it; 0: do not fail
    bool limited = false;  ///< transfer at most `bytes`
    uint64_t bytes = 0;
};

/// True where rules are in force. The first call reads TAILRACE_FAULT.  [local]
bool faults_active();
/// Asks the rules about a call on an open file; waits where a rule delays it. Keeps errno.  [local]
Verdict decide(Op op, int fd, uint64_t bytes);
/// The same for a call on names; a relative one is also tried as absolute. The second may be
/// nullptr.  [local]
Verdict decide(Op op, int folder, const char* path, int other_folder, const char* other_path);
/// Replaces all rules; nullptr or "" ends them. Returns nullptr, or what is wrong with them: then
/// no rule is in force.  [local]
const char* set_faults(const char* rules);
/// What was wrong with TAILRACE_FAULT, or nullptr.  [local]
const char* fault_error();

}  // namespace tailrace::hooks::posix
