// SPDX-License-Identifier: Apache-2.0
// A kernel as a program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/config.hpp"
#include "runner/run.hpp"
#include "tools/program.hpp"

namespace tailrace::tools {

struct KernelProgram {
    Program program;
    /// The outputs of a configuration, at least one; on every rank, without communication. It takes
    /// `started.input_file`, `.read_once` and `.limit` over into its plan.
    /// @throws core::Error
    std::function<runner::Outputs(core::Config config, std::uint64_t ranks,
                                  const runner::Plan& started)>
        make;
    /// The ranks that a configuration asks for; 0: any number will do. For dry runs.
    std::function<std::uint64_t(const core::Config&)> ranks_asked{
        [](const core::Config&) { return std::uint64_t{0}; }};
    /// Gives the ranks that take part to the work, which the others wait for; empty: all do.
    /// [collective]
    std::function<void(const comm::Comm& all, const core::Config& config,
                       const std::function<void(const comm::Comm&)>& work)>
        share{};
    bool limit_alone = false;  ///< no kernel: only the same bytes by plain means
};

/// KernelProgram::make of a kernel's own inputs_from() and make_kernel().
template <class InputsFrom, class MakeKernel>
auto kernel_maker(InputsFrom inputs_from, MakeKernel make_kernel) {
    return [inputs_from, make_kernel](core::Config config, std::uint64_t ranks,
                                      const runner::Plan& started) {
        auto inputs = inputs_from(std::move(config), ranks);
        runner::started_as(inputs, started);
        runner::Outputs outputs;
        outputs.push_back(make_kernel(std::move(inputs)));
        return outputs;
    };
}

/// The whole main function; returns the exit code.  [collective]
[[nodiscard]] int run_kernel_program(int argc, char** argv, KernelProgram which);

}  // namespace tailrace::tools
