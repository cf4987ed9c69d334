// SPDX-License-Identifier: Apache-2.0
// Writing a spool from inside somebody's program: nothing is thrown, printed or left open, and a
// full disk means that no more is recorded. One process at a time calls this; a fork begins anew.
#pragma once

#include "intent/spool/layout.hpp"

namespace tailrace::intent::spool {

/// A spool that is being written, mapped.
class Writer {
public:
    /// Begins a spool in `folder`; false where that cannot be.  [local]
    /// @param most_bytes  size it may grow to
    /// @param inherited   this process is a fork of one that was being recorded
    bool begin(const char* folder, uint64_t most_bytes, uint32_t hooks, bool inherited);
    /// A new record of `bytes` in all, zero but for its head; 0 where there is no room, which is
    /// counted. It is seen by readers after publish().  [local]
    uint64_t add(Kind kind, uint64_t bytes);
    /// Whether a record of `bytes` can be added; allocates what it needs.  [local]
    bool has_room(uint64_t bytes) {
        return x_base != nullptr && (x_end + bytes + 8 <= x_allocated || grow(bytes + 8));
    }
    /// The records so far are complete.  [local]
    void publish();
    void dropped(Kind kind) {
        if (x_base != nullptr) ++header().dropped[kind];
    }
    /// The record at `offset`, which add() gave.  [local]
    template <typename Record>
    Record& at(uint64_t offset) {
        return *reinterpret_cast<Record*>(x_base + offset);
    }
    Header& header() { return *reinterpret_cast<Header*>(x_base); }
    [[nodiscard]] const char* base() const { return x_base; }
    /// Leaves the mapping of another process alone (after a fork).  [local]
    void forget() { x_base = nullptr; }

private:
    bool grow(uint64_t bytes);
    void describe_process(uint32_t hooks, bool inherited);

    char* x_base = nullptr;
    uint64_t x_most = 0;
    uint64_t x_allocated = 0;
    uint64_t x_end = 0;
    uint64_t x_device = 0;
    uint64_t x_inode = 0;
    bool x_full = false;
    char x_path[4096] = {};
};

}  // namespace tailrace::intent::spool
