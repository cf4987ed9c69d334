// SPDX-License-Identifier: Apache-2.0
#include "core/memory_groups.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cinttypes>
#include <cstddef>

namespace tailrace::core {

namespace {

/// As long as any path that the kernel takes, and what goes before it.
constexpr std::size_t most_path_bytes = 4096 + 512;

/// The group and all that it lies in; `group` is cut on the way.
void up_from(const char* top, char* group, bool second, void (*visit)(const MemoryGroup&, void*),
             void* context) {
    char folder[most_path_bytes];
    for (;;) {
        std::size_t length = strlen(group);
        while (length > 0 && group[length - 1] == '/') group[--length] = '\0';
        const int bytes = snprintf(folder, sizeof folder, "%s%s", top, group);
        if (bytes > 0 && static_cast<std::size_t>(bytes) < sizeof folder)
            visit({folder, second}, context);
        char* slash = strrchr(group, '/');
        if (slash == nullptr) return;
        *slash = '\0';
    }
}

bool names_memory(const char* controllers) {
    static constexpr char memory[] = "memory";
    constexpr std::size_t bytes = sizeof memory - 1;
    for (const char* at = controllers; at != nullptr;) {
        if (strncmp(at, memory, bytes) == 0 && (at[bytes] == '\0' || at[bytes] == ',')) return true;
        at = strchr(at, ',');
        if (at != nullptr) ++at;
    }
    return false;
}

void take_limit(const MemoryGroup& group, void* least) {
    char path[most_path_bytes + 32];
    snprintf(path, sizeof path, "%s/%s", group.folder,
             group.second ? "memory.max" : "memory.limit_in_bytes");
    FILE* in = fopen(path, "re");
    if (in == nullptr) return;
    std::uint64_t limit = 0;
    // "max" is no number.
    const bool there = fscanf(in, "%" SCNu64, &limit) == 1;  // NOLINT(cert-err34-c)
    fclose(in);
    auto& known = *static_cast<std::uint64_t*>(least);
    if (there && limit < known) known = limit;
}

}  // namespace

void each_memory_group(const char* root, void (*visit)(const MemoryGroup&, void*),
                       void* context) noexcept {
    char path[most_path_bytes];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE* in = fopen(path, "re");
    if (in == nullptr) return;
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, in) > 0) {  // "0::/a/b" or "4:cpu,memory:/a/b"
        line[strcspn(line, "\n")] = '\0';
        char* controllers = strchr(line, ':');
        char* group = controllers != nullptr ? strchr(controllers + 1, ':') : nullptr;
        if (group == nullptr) continue;
        *group++ = '\0';
        const bool second = *++controllers == '\0';
        if (!second && !names_memory(controllers)) continue;
        snprintf(path, sizeof path, "%s%s", root,
                 second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
        up_from(path, group, second, visit, context);
    }
    free(line);
    fclose(in);
}

std::uint64_t group_memory_limit(const char* root) noexcept {
    std::uint64_t least = UINT64_MAX;
    each_memory_group(root, take_limit, &least);
    return least;
}

}  // namespace tailrace::core
