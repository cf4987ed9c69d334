// SPDX-License-Identifier: Apache-2.0
// What the machine can do with the bytes of a seism run: tailrace-limit takes the same inputs.
#include "tools/seism_program.hpp"

int main(int argc, char** argv) {
    return tailrace::tools::run_seism_program(
        argc, argv, "tailrace-limit",
        "writes the bytes of a seism run by plain means, and measures it", true);
}
