/* SPDX-License-Identifier: Apache-2.0 */
/* A fill plugin in its smallest form: every element is the rank that owns it, as without a plugin.
 *
 *   use_function_lib libplugins.so
 *   use_function_name mpi_rank_fill
 */
#include "tailrace/fill_plugin.h"

float mpi_rank_fill(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
                    uint64_t *domain_block_number, uint64_t *position_in_block, int argc,
                    char **argv) {
    (void)system_size;
    (void)domain_block_size;
    (void)domain_block_number;
    (void)position_in_block;
    (void)argc;
    (void)argv;
    return (float)mpi_rank;
}
