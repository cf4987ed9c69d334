// SPDX-License-Identifier: Apache-2.0
// What a program does when it is interrupted: it removes its unfinished files and ends.
#pragma once

namespace tailrace::tools {

/// Puts /dev/null on those of the descriptors 0, 1 and 2 that are closed: otherwise the next file
/// that is opened gets the number, and messages are written into it. First thing in main.  [local]
void open_standard_descriptors() noexcept;

/// Ignores SIGXFSZ and SIGPIPE: a file size limit and a reader that has gone are errors of write(),
/// which are told and cleaned up after.  [local]
void ignore_write_signals() noexcept;

/// Handles SIGINT, SIGTERM and SIGHUP: unfinished files are unlinked, the process ends with 128 +
/// signal.  [local]
void clean_up_on_signals() noexcept;

/// Starts a child that outlives this process by a moment and unlinks what it left unfinished, also
/// where it was killed: launchers follow SIGTERM with SIGKILL within milliseconds. Before MPI_Init
/// and any thread.  [local]
void clean_up_after_death() noexcept;

/// From now on a signal ends the process with `exit_code`: MPI launchers send SIGTERM to the rest
/// as soon as one rank has ended with an error, and the code of the run must stay what it was.
/// [local]
void ending_with(int exit_code) noexcept;

}  // namespace tailrace::tools
