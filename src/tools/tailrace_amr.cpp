// SPDX-License-Identifier: Apache-2.0
// The amr kernel as a program: tailrace-amr.
#include "kernels/amr/amrex_lines.hpp"
#include "kernels/amr/kernel.hpp"
#include "tools/kernel_program.hpp"

namespace {

namespace amr = tailrace::kernels::amr;
namespace runner = tailrace::runner;

}  // namespace

int main(int argc, char** argv) {
    tailrace::tools::KernelProgram which;
    which.program.name = "tailrace-amr";
    which.program.summary = "writes plot files of an adaptive mesh in the layouts of AMReX";
    which.program.environment_prefix = amr::environment_prefix;
    which.program.keys = amr::key_table();
    which.program.usage = "inputs";
    which.program.reads_stdin = false;
    which.program.first_names_input = true;
    which.program.classic = [keys = which.program.keys](const std::vector<std::string>& words) {
        return amr::last_of_each(keys, words);
    };
    which.program.translate = [keys = which.program.keys](const std::string& text,
                                                          const std::string& origin) {
        return amr::lines_of(keys, text, origin);
    };
    which.make = [](tailrace::core::Config config, std::uint64_t ranks,
                    const runner::Plan& started) {
        amr::Inputs inputs = amr::inputs_from(std::move(config), ranks);
        runner::started_as(inputs, started);
        return amr::make_outputs(inputs);
    };
    return tailrace::tools::run_kernel_program(argc, argv, std::move(which));
}
