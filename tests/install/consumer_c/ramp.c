/* SPDX-License-Identifier: Apache-2.0 */
/* A fill plugin in C99: a ramp along x, times the first argument. */
#include <stdlib.h>
#include <tailrace/fill_plugin.h>

float ramp(int mpi_rank, uint64_t* system_size, uint64_t* domain_block_size,
           uint64_t* domain_block_number, uint64_t* position_in_block, int argc, char** argv);

float ramp(int mpi_rank, uint64_t* system_size, uint64_t* domain_block_size,
           uint64_t* domain_block_number, uint64_t* position_in_block, int argc, char** argv) {
    (void)mpi_rank;
    (void)system_size;
    const float slope = argc > 0 ? (float)atof(argv[0]) : 1.0f;
    return slope * (float)(domain_block_number[0] * domain_block_size[0] + position_in_block[0]);
}

/* The ABI is the one of the header: this line does not compile otherwise. */
tailrace_fill_function ramp_as_declared = ramp;
