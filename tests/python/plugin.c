/* SPDX-License-Identifier: Apache-2.0 */
/* A fill plugin that mixes all of its arguments, so that a wrong one changes the value. */
#include <stdint.h>
#include <stdlib.h>

float mixed(int rank, uint64_t* grid, uint64_t* domain, uint64_t* block, uint64_t* position,
            int argc, char** argv) {
    double value = rank + 0.5 * grid[0] + 0.25 * grid[2] + 10.0 * domain[1];
    for (int i = 0; i < 3; ++i) value += (100.0 + i) * block[i] + (1000.0 + 7 * i) * position[i];
    for (int i = 0; i < argc; ++i) value += atof(argv[i]) * (i + 1);
    return argv[argc] == NULL ? (float)value : -1.0f;
}
