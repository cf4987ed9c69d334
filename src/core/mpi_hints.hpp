// SPDX-License-Identifier: Apache-2.0
// What the implementations of MPI-IO make of hints. Header only: hooks have no C++ run-time
// library.
#pragma once

#include <cstring>

namespace tailrace::core {

/// Hints that only ROMIO knows: OMPIO tells them as it was given them, and does nothing with them.
/// [local]
inline bool only_romio_reads(const char* key) noexcept {
    return std::strncmp(key, "romio_", 6) == 0 || std::strncmp(key, "ind_", 4) == 0 ||
           std::strcmp(key, "cb_config_list") == 0;
}

}  // namespace tailrace::core
