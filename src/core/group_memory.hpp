// SPDX-License-Identifier: Apache-2.0
// How much memory the control groups of this process leave: a batch system or a container gives a
// job less than the machine has.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tailrace::core {

/// Bytes that this process may still take before the tightest limit of its control groups, version
/// 2 or 1; UINT64_MAX where there is none. Pages of files that are only cached count as free.
/// [local]
/// @param root  where /proc and /sys/fs/cgroup lie, for tests
[[nodiscard]] std::uint64_t group_memory_free(const std::filesystem::path& root = "/");
/// Bytes that this process may still take: no more than its groups leave, and the machine has.
/// [local]
[[nodiscard]] std::uint64_t memory_free();

}  // namespace tailrace::core
