// SPDX-License-Identifier: Apache-2.0
// What a hook has to put right in a child that is forked. Only the thread that forked is there: a
// lock that another one held would never be given back.
#pragma once

#include <pthread.h>

namespace tailrace::hooks {

/// As a variable of a hook: from when the hook is loaded on, so before anything can be locked,
/// `mend` is called in each child before anything else of ours is.
class InChild {
public:
    explicit InChild(void (*mend)()) { pthread_atfork(nullptr, nullptr, mend); }
};

}  // namespace tailrace::hooks
