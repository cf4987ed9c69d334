/* SPDX-License-Identifier: Apache-2.0 */
/* A fill plugin that mixes all of its arguments, so that a wrong one changes the value. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

float mixed(int rank, uint64_t* grid, uint64_t* domain, uint64_t* block, uint64_t* position,
            int argc, char** argv) {
    double value = rank + 0.5 * grid[0] + 0.25 * grid[2] + 10.0 * domain[1];
    for (int i = 0; i < 3; ++i) value += (100.0 + i) * block[i] + (1000.0 + 7 * i) * position[i];
    for (int i = 0; i < argc; ++i) value += atof(argv[i]) * (i + 1);
    return argv[argc] == NULL ? (float)value : -1.0f;
}

/* A function that wants one number, and returns NaN otherwise. */
float picky(int rank, uint64_t* grid, uint64_t* domain, uint64_t* block, uint64_t* position,
            int argc, char** argv) {
    (void)grid, (void)domain, (void)block, (void)position, (void)argv;
    return argc == 1 ? (float)rank : NAN;
}

int picky_check(int argc, char** argv, char* error, size_t error_size) {
    if (argc == 1 && argv[1] == NULL) return 0;
    snprintf(error, error_size, "it wants one number");
    return 7;
}
