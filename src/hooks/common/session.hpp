// SPDX-License-Identifier: Apache-2.0
// The spool of this process, as the preloaded hooks keep it: begun at the first thing to record,
// one caller at a time, a fork begins its own. Nothing here fails, prints (but one line where
// nothing can be recorded) or changes errno.
#pragma once

#include "hooks/common/spooling.hpp"

namespace tailrace::hooks {

namespace session {

/// Which hook this library is; each defines it.
extern const spool::Hook hook;

/// Whether TAILRACE_MODE asks for recording and there is a folder for it. Reads the environment
/// once.  [local]
bool on();
/// Whether TAILRACE_MODE asks for a plan to be applied, with or without a folder to say so. [local]
bool applying();
/// The folder of the spools; its files are not recorded.  [local]
const char* folder();
using spooling::now;

/// Lets one caller in, in the right process. Nothing may be recorded where it says no: that is so
/// too for what we call ourselves, and in a signal handler that came in between.
class Turn {
public:
    /// @param outcomes  for what became of a plan, not for what the program does
    explicit Turn(bool outcomes = false);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return x_open; }

private:
    int x_errno;
    bool x_open;
};

/// Whether this is the process that the memory belongs to, and not the child of a vfork.  [local]
bool ours();

/// Whether this thread is at recording something, so that a call is our own.  [local]
bool inside();

// In turn only:
spool::Writer& writer();
/// Counts the forks that led to this process.
uint32_t generation();
void widen(spool::Period& span, Took took);

}  // namespace session
}  // namespace tailrace::hooks
