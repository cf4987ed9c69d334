// SPDX-License-Identifier: Apache-2.0
// How one transfer follows another in a file.
#pragma once

#include "hooks/common/session.hpp"
#include "intent/spool/layout_io.hpp"

namespace tailrace::hooks::steps {

enum : unsigned { sequential, strided, random, repeated };

/// One more transfer, from byte `start` to before byte `end` of the file: how it follows the one
/// before it in its direction, as the connector calls it.
inline void follow(spool::Steps& to, uint64_t start, uint64_t end) {
    if (to.placed > 0) {
        const auto step = static_cast<int64_t>(start - to.last_start);
        unsigned how = random;
        if (start == to.last_end) {
            how = sequential;
        } else if (step == 0) {
            how = repeated;
        } else if (to.has_step == 0 || step == to.last_step) {
            how = strided;
            if (to.steps == 0) to.step = step;
            to.steps = to.steps <= 1 && to.step == step ? 1 : 2;
        }
        ++to.order[how];
        if (start == to.last_end) ++to.consecutive;
        if (start >= to.last_end) ++to.upwards;
        to.last_step = step;
        to.has_step = 1;
    }
    if (end > start) {  // a read at the end of the file touches nothing
        if (to.end_byte == 0 || start < to.lowest_byte) to.lowest_byte = start;
        if (end > to.end_byte) to.end_byte = end;
    }
    to.last_start = start;
    to.last_end = end;
    ++to.placed;
}

}  // namespace tailrace::hooks::steps
