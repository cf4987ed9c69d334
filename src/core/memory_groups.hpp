// SPDX-License-Identifier: Apache-2.0
// The control groups that this process lies in, where they count memory: a batch system or a
// container gives a job less than the machine has. The hooks use it too, so it needs no C++
// run-time library.
#pragma once

#include <cstdint>

namespace tailrace::core {

/// A control group as a folder; files have other names in the two versions.
struct MemoryGroup {
    const char* folder;
    bool second;  ///< version 2
};

/// Calls visit(group, context) for the groups of this process and for all that they lie in: each
/// has a limit of its own. In a container the path may be that of the host, and only the root is
/// there.  [local]
/// @param root  what goes before /proc and /sys, for tests
void each_memory_group(const char* root, void (*visit)(const MemoryGroup&, void*),
                       void* context) noexcept;

/// The tightest limit of those, in bytes; UINT64_MAX: there is none.  [local]
[[nodiscard]] std::uint64_t group_memory_limit(const char* root = "") noexcept;

}  // namespace tailrace::core
