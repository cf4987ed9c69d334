// SPDX-License-Identifier: Apache-2.0
// The seism kernel as a program: tailrace-seism, installed also as seism-core-slice.
#include "tools/seism_program.hpp"

int main(int argc, char** argv) {
    return tailrace::tools::run_seism_program(
        argc, argv, "tailrace-seism",
        "writes the time steps of a simulation on a regular grid, and measures it", false);
}
