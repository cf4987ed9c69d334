// SPDX-License-Identifier: Apache-2.0
// The programs that take the inputs of the seism kernel.
#pragma once

#include <string>

namespace tailrace::tools {

/// The whole main function; returns the exit code.  [collective]
/// @param limit_alone  no kernel: only the same bytes by plain means
[[nodiscard]] int run_seism_program(int argc, char** argv, const std::string& name,
                                    const std::string& summary, bool limit_alone);

}  // namespace tailrace::tools
