// SPDX-License-Identifier: Apache-2.0
#include "formats/group_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace tailrace::formats {

namespace fs = std::filesystem;

namespace {

/// The names of the same things in the two versions.
struct Version {
    const char *folder, *limit, *used, *cached_1, *cached_2;
};
constexpr Version second{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
                         "active_file"};
constexpr Version first{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file", "total_active_file"};

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

/// The group and all that it lies in: each has a limit of its own. In a container the path may be
/// that of the host, and only the root is there.
std::uint64_t free_up_from(const fs::path& top, fs::path group, const Version& version) {
    std::uint64_t free = free_in(top, version);
    for (; group.has_relative_path(); group = group.parent_path())
        free = std::min(free, free_in(top / group.relative_path(), version));
    return free;
}

bool names_memory(const std::string& controllers) {
    return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::uint64_t group_memory_free(const fs::path& root) {
    std::ifstream in(root / "proc/self/cgroup");
    std::uint64_t free = UINT64_MAX;
    for (std::string line; std::getline(in, line);) {  // "0::/a/b" or "4:cpu,memory:/a/b"
        const std::size_t colon = line.find(':');
        const std::size_t next = line.find(':', colon + 1);
        if (colon == std::string::npos || next == std::string::npos) continue;
        const std::string controllers = line.substr(colon + 1, next - colon - 1);
        if (!controllers.empty() && !names_memory(controllers)) continue;
        const Version& version = controllers.empty() ? second : first;
        free = std::min(free, free_up_from(root / version.folder, line.substr(next + 1), version));
    }
    return free;
}

}  // namespace tailrace::formats
