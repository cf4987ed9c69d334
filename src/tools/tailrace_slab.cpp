// SPDX-License-Identifier: Apache-2.0
// The slab kernel as a program: tailrace-slab.
#include <utility>

#include "kernels/slab/kernel.hpp"
#include "tools/kernel_program.hpp"

namespace {

namespace slab = tailrace::kernels::slab;

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
    which.make = tailrace::tools::kernel_maker(slab::inputs_from, slab::make_kernel);
    return tailrace::tools::run_kernel_program(argc, argv, std::move(which));
}
