// SPDX-License-Identifier: Apache-2.0
// The rules of TAILRACE_FAULT as data.
#pragma once

#include <stdint.h>

#include <atomic>

#include "hooks/posix/faults.hpp"

namespace tailrace::hooks::posix {

inline constexpr unsigned max_rules = 32;
inline constexpr unsigned pattern_size = 512;

struct FaultRule {
    Op op = Op::write;
    int rank = -1;                  ///< -1: every rank
    char path[pattern_size] = "";   ///< empty: every path
    char phase[pattern_size] = "";  ///< empty: every phase
    uint64_t after = 0;             ///< matching calls that pass first
    uint64_t times = UINT64_MAX;    ///< calls that fail (or are cut, or wait) then
    int error = 0;                  ///< errno; 0: none
    uint64_t short_bytes = 0;       ///< the first one transfers this much; 0: not set
    unsigned delay_ms = 0;
    bool has_limit = false;
    uint64_t limit_bytes = 0;  ///< of all matching writes together; then `error`
};

/// Parses `text` into at most max_rules rules. Returns nullptr, or a static text that says what is
/// wrong with which rule.  [local]
const char* parse_fault_rules(const char* text, FaultRule (&rules)[max_rules], unsigned& count);

}  // namespace tailrace::hooks::posix
