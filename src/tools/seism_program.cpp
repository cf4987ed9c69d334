// SPDX-License-Identifier: Apache-2.0
#include "tools/seism_program.hpp"

#include <utility>

#include "kernels/seism/kernel.hpp"
#include "tools/kernel_program.hpp"

namespace tailrace::tools {

namespace {

namespace seism = kernels::seism;

std::uint64_t ranks_asked(const core::Config& config) {
    std::uint64_t ranks = 1;
    for (std::uint64_t blocks : config.tuple("processor"))
        if (__builtin_mul_overflow(ranks, blocks, &ranks)) return 0;
    return ranks;
}

}  // namespace

int run_seism_program(int argc, char** argv, const std::string& name, const std::string& summary,
                      bool limit_alone) {
    KernelProgram which;
    which.program.name = name;
    which.program.summary = summary;
    which.program.environment_prefix = seism::environment_prefix;
    which.program.keys = seism::key_table();
    which.make = kernel_maker(seism::inputs_from, seism::make_kernel);
    which.ranks_asked = ranks_asked;
    which.limit_alone = limit_alone;
    return run_kernel_program(argc, argv, std::move(which));
}

}  // namespace tailrace::tools
