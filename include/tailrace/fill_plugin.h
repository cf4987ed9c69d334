/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The ABI of fill functions: what tailrace-seism loads with `use_function_lib` and calls once per
 * element. C and C++; needs nothing but <stdint.h>. A library compiled for the kernel that this one
 * follows (there the sizes are `hsize_t`, 64-bit unsigned) has the same ABI and loads unchanged. */
#ifndef TAILRACE_FILL_PLUGIN_H
#define TAILRACE_FILL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of one element.  [local]
 *
 * @param mpi_rank  rank that owns the element; 0, 1, ...
 * @param system_size  number of blocks in x, y, z (the keys `processor`)
 * @param domain_block_size  elements of one block in x, y, z (the keys `domain`)
 * @param domain_block_number  the owner's block in x, y, z, counted from 0
 * @param position_in_block  the element in its block in x, y, z, counted from 0
 * @param argc  how many words there are
 * @param argv  the words of `use_function_argv`; unlike a program's, argv[0] is the first argument
 * @return the value
 *
 * The element's position in the whole domain is
 * `domain_block_number[d] * domain_block_size[d] + position_in_block[d]`.
 * The same values are written in every time step. The function is called from one thread, in
 * row-major order of a block (z fastest) when a block is filled, in any order when a file is
 * verified: it must depend on nothing but its arguments. */
typedef float (*tailrace_fill_function)(int mpi_rank, uint64_t* system_size,
                                        uint64_t* domain_block_size, uint64_t* domain_block_number,
                                        uint64_t* position_in_block, int argc, char** argv);

/** OPTIONAL. A library may export, beside function F, a function named F_check. It is called once
 * on every rank before anything is created, and says whether the arguments will do: it returns 0,
 * or another number with a text for the user in `error` (room for `error_size` bytes, the final
 * zero included). A library without it is used as it is.  [local] */
typedef int (*tailrace_fill_check)(int argc, char** argv, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
