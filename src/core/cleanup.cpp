// SPDX-License-Identifier: Apache-2.0
#include "core/cleanup.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
            ::unlink(slot.name.data());
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
