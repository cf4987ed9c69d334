// SPDX-License-Identifier: Apache-2.0
// The particle kernel as a program: tailrace-particle.
#include <utility>

#include "kernels/particle/h5bench.hpp"
#include "kernels/particle/kernel.hpp"
#include "tools/kernel_program.hpp"

namespace {

namespace particle = tailrace::kernels::particle;

}  // namespace

int main(int argc, char** argv) {
    tailrace::tools::KernelProgram which;
    which.program.name = "tailrace-particle";
    which.program.summary = "writes and reads particles in the patterns of h5bench";
    which.program.environment_prefix = particle::environment_prefix;
    which.program.keys = particle::key_table();
    which.program.reads_stdin = false;
    which.program.translate = particle::lines_of;
    which.make = tailrace::tools::kernel_maker(particle::inputs_from, particle::make_kernel);
    return tailrace::tools::run_kernel_program(argc, argv, std::move(which));
}
