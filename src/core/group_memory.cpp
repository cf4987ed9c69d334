// SPDX-License-Identifier: Apache-2.0
#include "core/group_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "core/context.hpp"
#include "core/memory_groups.hpp"

namespace tailrace::core {

namespace fs = std::filesystem;

namespace {

/// The names of the same things in the two versions.
struct Version {
    const char *limit, *used, *cached_1, *cached_2;
};
constexpr Version second{"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr Version first{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                        "total_active_file"};

/// Nothing where there is no number: "max", or no such file.
std::optional<std::uint64_t> number_in(const fs::path& file) {
    std::ifstream in(file);
    std::uint64_t number = 0;
    if (in >> number) return number;
    return std::nullopt;
}

/// Taken from the group by the cache of files, which gives way. Files in memory are not in it.
std::uint64_t cached_bytes(const fs::path& group, const Version& version) {
    std::ifstream in(group / "memory.stat");
    std::uint64_t bytes = 0, number = 0;
    for (std::string key; in >> key >> number;)
        if (key == version.cached_1 || key == version.cached_2) bytes += number;
    return bytes;
}

std::uint64_t free_in(const fs::path& group, const Version& version) {
    const auto limit = number_in(group / version.limit), used = number_in(group / version.used);
    if (!limit || !used) return UINT64_MAX;
    const std::uint64_t firm = *used - std::min(*used, cached_bytes(group, version));
    return *limit - std::min(*limit, firm);
}

void take_free(const MemoryGroup& group, void* least) {
    auto& free = *static_cast<std::uint64_t*>(least);
    free = std::min(free, free_in(group.folder, group.second ? second : first));
}

}  // namespace

std::uint64_t group_memory_free(const fs::path& root) {
    std::uint64_t free = UINT64_MAX;
    each_memory_group(root.c_str(), take_free, &free);
    return free;
}

std::uint64_t memory_free() {
    const std::uint64_t machine = machine_memory().available_bytes;
    return std::min(machine == 0 ? UINT64_MAX : machine, group_memory_free());
}

}  // namespace tailrace::core
