// SPDX-License-Identifier: Apache-2.0
#include "core/cleanup.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

namespace tailrace::core {

namespace {

/// What tells a file from another one that takes its name later: inode numbers are used again, so
/// the time of birth belongs to it where the file system knows it.
struct Identity {
    std::uint64_t device = 0, inode = 0;
    std::int64_t birth_s = 0;
    std::uint32_t birth_ns = 0;
    bool operator==(const Identity&) const = default;
};

/// A system call and nothing else, for signal handlers. False where nothing has the name.
bool identify(const char* name, Identity& identity) noexcept {
    struct statx info {};
    if (::statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &info) != 0)
        return false;
    identity = {};
    identity.device = (std::uint64_t{info.stx_dev_major} << 32U) | info.stx_dev_minor;
    identity.inode = info.stx_ino;
    if ((info.stx_mask & STATX_BTIME) != 0) {
        identity.birth_s = info.stx_btime.tv_sec;
        identity.birth_ns = info.stx_btime.tv_nsec;
    }
    return true;
}

/// What getdents64 gives, one behind the other; `length` bytes each.
struct DirectoryEntry {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    unsigned char type;
    char name[1];
};

/// Removes what is in an open folder. System calls and the stack, for signal handlers; a folder of
/// ours is less deep than `levels`.
// NOLINTNEXTLINE(misc-no-recursion)
void empty_folder(int folder, int levels) noexcept {
    alignas(DirectoryEntry) std::array<char, 2048> buffer;
    for (;;) {
        const long got = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
        if (got <= 0) return;
        for (long at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
            at += entry->length;
            const char* name = static_cast<const char*>(entry->name);
            if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
            if (::unlinkat(folder, name, 0) == 0 || levels == 0) continue;
            const int below = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            if (below < 0) continue;
            empty_folder(below, levels - 1);
            ::close(below);
            ::unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
}

void remove_name(const char* name) noexcept {
    if (::unlink(name) == 0) return;
    const int folder = ::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    constexpr int levels = 8;
    empty_folder(folder, levels);
    ::close(folder);
    ::rmdir(name);
}

// Plain memory of fixed size: a signal handler may look at it at any moment. A bit of `used` is set
// when its slot is complete, and bits are cleared together.
struct Slot {
    Identity identity;
    std::array<char, 4096> name{};
};
struct Slots {
    std::atomic<std::uint64_t> used{0};
    std::array<Slot, 64> all{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "signal handlers and other processes look");

Slots own_slots;
Slots* slots = &own_slots;
std::mutex slots_mutex;

constexpr std::uint64_t bit(std::size_t slot) { return std::uint64_t{1} << slot; }

}  // namespace

bool remove_on_interrupt(const std::filesystem::path& path,
                         const std::filesystem::path& file) noexcept {
    const std::size_t bytes = std::strlen(path.c_str()) + 1;
    Identity identity;
    if (!identify(file.c_str(), identity)) return false;
    const std::lock_guard lock(slots_mutex);
    for (std::size_t k = 0; k < slots->all.size(); ++k) {
        Slot& slot = slots->all[k];
        if ((slots->used.load() & bit(k)) != 0 || bytes > slot.name.size()) continue;
        std::memcpy(slot.name.data(), path.c_str(), bytes);
        slot.identity = identity;
        slots->used.fetch_or(bit(k));
        return true;
    }
    return false;
}

void keep_on_interrupt(std::span<const std::filesystem::path> paths) noexcept {
    const std::lock_guard lock(slots_mutex);
    std::uint64_t kept = 0;
    for (std::size_t k = 0; k < slots->all.size(); ++k)
        if (std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
                return std::strcmp(slots->all[k].name.data(), path.c_str()) == 0;
            }))
            kept |= bit(k);
    slots->used.fetch_and(~kept);
}

void remove_unfinished_files() noexcept {
    const std::uint64_t used = slots->used.load();
    for (std::size_t k = 0; k < slots->all.size(); ++k) {
        const Slot& slot = slots->all[k];
        Identity now;
        if ((used & bit(k)) != 0 && identify(slot.name.data(), now) && now == slot.identity)
            remove_name(slot.name.data());
    }
}

bool share_unfinished_files() noexcept {
    void* shared =
        ::mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return false;
    slots = new (shared) Slots;
    return true;
}

}  // namespace tailrace::core
