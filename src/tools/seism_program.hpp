// SPDX-License-Identifier: Apache-2.0
// The programs that take the inputs of the seism kernel.
#pragma once

#include <string>

namespace tailrace::tools {

struct SeismProgram {
    std::string name;
    std::string summary;       ///< one sentence
    bool limit_alone = false;  ///< no kernel: only the same bytes by plain means
};

/// The whole main function; returns the exit code.  [collective]
[[nodiscard]] int run_seism_program(int argc, char** argv, const SeismProgram& which);

}  // namespace tailrace::tools
