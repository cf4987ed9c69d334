// SPDX-License-Identifier: Apache-2.0
// The slab kernel as a program: tailrace-slab.
#include <utility>

#include "kernels/slab/kernel.hpp"
#include "tools/kernel_program.hpp"

namespace {

namespace slab = tailrace::kernels::slab;
namespace run = tailrace::kernels::run;

std::unique_ptr<run::Kernel> make(tailrace::core::Config config, std::uint64_t ranks,
                                  const run::Plan& started) {
    slab::Inputs inputs = slab::inputs_from(std::move(config), ranks);
    run::started_as(inputs, started);
    return slab::make_kernel(std::move(inputs));
}

}  // namespace

int main(int argc, char** argv) {
    tailrace::tools::KernelProgram which;
    which.program.name = "tailrace-slab";
    which.program.summary = "writes a large two-dimensional array, and measures it";
    which.program.environment_prefix = slab::environment_prefix;
    which.program.keys = slab::key_table();
    which.program.usage = "N1 N2 T|F";
    which.program.reads_stdin = false;
    which.program.classic = slab::from_classic;
    which.make = make;
    which.ranks_asked = [](const tailrace::core::Config&) { return std::uint64_t{0}; };
    return tailrace::tools::run_kernel_program(argc, argv, std::move(which));
}
