// SPDX-License-Identifier: Apache-2.0
#include "core/cleanup.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

namespace tailrace::core {

namespace {

// Plain memory of fixed size: a signal handler may look at it at any moment. `used` is set last
// and cleared first, so that a half-written name is never seen.
struct Slot {
    std::atomic<bool> used{false};
    std::array<char, 4096> name{};
};

using Slots = std::array<Slot, 64>;

Slots own_slots;
Slots* slots = &own_slots;
std::mutex slots_mutex;
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers and other processes look");

}  // namespace

bool remove_on_interrupt(const std::filesystem::path& path) noexcept {
    const char* text = path.c_str();
    const std::size_t length = std::strlen(text);
    const std::lock_guard lock(slots_mutex);
    for (Slot& slot : *slots) {
        if (slot.used.load() || length >= slot.name.size()) continue;
        std::memcpy(slot.name.data(), text, length + 1);
        slot.used.store(true);
        return true;
    }
    return false;
}

void keep_on_interrupt(const std::filesystem::path& path) noexcept {
    const std::lock_guard lock(slots_mutex);
    for (Slot& slot : *slots)
        if (slot.used.load() && std::strcmp(slot.name.data(), path.c_str()) == 0)
            slot.used.store(false);
}

void remove_unfinished_files() noexcept {
    for (Slot& slot : *slots)
        if (slot.used.load()) ::unlink(slot.name.data());
}

bool share_unfinished_files() noexcept {
    void* shared =
        ::mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return false;
    slots = new (shared) Slots;
    return true;
}

}  // namespace tailrace::core
