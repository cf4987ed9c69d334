// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tailrace::hooks::posix {

/// Appends one JSON line per file to the file named by TAILRACE_POSIX_REPORT; nothing where that
/// is not set. Allocates nothing.  [local]
void write_report();

}  // namespace tailrace::hooks::posix
