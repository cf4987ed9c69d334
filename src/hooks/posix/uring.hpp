// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tailrace::hooks::posix {

/// Counts what the kernel has completed on all known rings.  [local]
void read_all_results();
/// For a forked child: its parent's rings are not its own.  [local]
void forget_rings();

}  // namespace tailrace::hooks::posix
