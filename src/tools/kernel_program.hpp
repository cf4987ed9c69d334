// SPDX-License-Identifier: Apache-2.0
// A kernel as a program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/config.hpp"
#include "kernels/run/kernel.hpp"
#include "tools/program.hpp"

namespace tailrace::tools {

struct KernelProgram {
    Program program;
    /// The kernel of a configuration; on every rank, without communication. It takes
    /// `started.input_file`, `.read_once` and `.limit` over into its plan.
    /// @throws core::Error
    std::function<std::unique_ptr<kernels::run::Kernel>(core::Config config, std::uint64_t ranks,
                                                        const kernels::run::Plan& started)>
        make;
    /// The ranks that a configuration asks for; 0: any number will do. For dry runs.
    std::function<std::uint64_t(const core::Config&)> ranks_asked;
    bool limit_alone = false;  ///< no kernel: only the same bytes by plain means
};

/// The whole main function; returns the exit code.  [collective]
[[nodiscard]] int run_kernel_program(int argc, char** argv, KernelProgram which);

}  // namespace tailrace::tools
