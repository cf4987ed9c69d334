// SPDX-License-Identifier: Apache-2.0
// Which records a process has already, by the hash of what they are about. In turn only.
#pragma once

#include <stdint.h>
#include <string.h>

namespace tailrace::hooks {

/// Of fixed size: what comes later finds no room.
template <unsigned size>
class KnownRecords {
public:
    /// Where the record of a hash is, made by `add()` where the spool of this generation has none;
    /// 0: there is no room for it.  [local]
    template <typename Add>
    uint64_t offset_of(uint64_t hash, uint32_t generation, Add add) {
        Known* at = slot_of(hash != 0 ? hash : 1, generation);
        if (at == nullptr) return 0;
        if (at->generation != generation) {
            at->generation = generation;
            at->offset = add();
        }
        return at->offset;
    }

private:
    struct Known {
        uint64_t hash;
        uint64_t offset;  ///< in the spool of `generation`; 0: there was no room
        uint32_t generation;
    };

    /// The slot of a hash, or where it would go; nullptr where the table is full.
    Known* slot_of(uint64_t hash, uint32_t generation) {
        for (unsigned step = 0; step < size; ++step) {
            Known& one = x_known[(hash + step) % size];
            if (one.hash == hash) return &one;
            if (one.hash != 0) continue;
            if (x_used >= size * 3 / 4) return nullptr;
            ++x_used;
            one.hash = hash;
            one.generation = generation - 1;
            return &one;
        }
        return nullptr;
    }

    Known x_known[size];
    unsigned x_used;
};

/// Writes texts one behind the other.
inline void put_texts(char* to, const char* const* texts, uint32_t* bytes, unsigned count) {
    for (unsigned part = 0; part < count; ++part) {
        const size_t length = strlen(texts[part]);
        bytes[part] = static_cast<uint32_t>(length);
        memcpy(to, texts[part], length);
        to += length;
    }
}

}  // namespace tailrace::hooks
