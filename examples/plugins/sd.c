/* SPDX-License-Identifier: Apache-2.0 */
/* Sample data from a file: raw float32 numbers in the machine's byte order, x running fastest.
 *
 * sd FILE: the function of this name that seism-core came with. The element (x, y, z) of a block of
 * nx x ny x nz elements gets the number with index (z * ny + y) * nx + x of the file, so that all
 * blocks are the same; NaN behind the end of the file.
 *
 * sd_of_domain FILE NX NY NZ: the element at the position (x, y, z) in the whole domain gets the
 * number with index (z * NY + y) * NX + x of the file, which holds exactly NX * NY * NZ numbers. A
 * domain that is larger than the sample repeats it in each direction.
 *
 *   use_function_lib libplugins.so
 *   use_function_name sd_of_domain
 *   use_function_argc 4
 *   use_function_argv FILE NX NY NZ
 *
 * A name with blanks cannot be given: arguments end at a blank. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tailrace/fill_plugin.h"

enum { arguments = 4 };

/* One sample per process, read at the first use and kept; its extents for sd_of_domain. */
static struct {
    char *name;
    uint64_t extent[3];
    uint64_t count;
    float *values;
} sample;

static int read_extent(const char *text, uint64_t *extent) {
    if (*text < '0' || *text > '9') return 0;
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *extent = value;
    return *end == '\0' && errno == 0 && value > 0;
}

static int product(const uint64_t *extent, uint64_t *bytes) {
    *bytes = sizeof(float);
    for (int d = 0; d < 3; ++d)
        if (__builtin_mul_overflow(*bytes, extent[d], bytes)) return 0;
    return 1;
}

/* Reads the whole file; bytes: how many it must have, 0: any whole number of values. */
static int load(const char *name, uint64_t bytes, char *error, size_t error_size) {
    if (sample.values && strcmp(sample.name, name) == 0 &&
        (bytes == 0 || sample.count * sizeof(float) == bytes))
        return 0;
    FILE *file = fopen(name, "rb");
    if (!file) {
        snprintf(error, error_size, "cannot open the sample \"%.400s\": %s", name,
                 strerror(errno));
        return 1;
    }
    struct stat status;
    const int known = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    const uint64_t there = known ? (uint64_t)status.st_size : 0;
    if (there == 0 || there % sizeof(float) != 0 || (bytes != 0 && there != bytes)) {
        char wanted[64] = "a number of values of 4 bytes each";
        if (bytes != 0)
            snprintf(wanted, sizeof wanted, "the %llu bytes that the extents ask for",
                     (unsigned long long)bytes);
        snprintf(error, error_size, "the sample \"%.400s\" has %llu bytes, and not %s", name,
                 (unsigned long long)there, wanted);
        fclose(file);
        return 1;
    }
    float *values = malloc((size_t)there);
    char *kept = strdup(name);
    if (!values || !kept || fread(values, 1, (size_t)there, file) != there) {
        snprintf(error, error_size, "cannot read the %llu bytes of the sample \"%.400s\"",
                 (unsigned long long)there, name);
        free(values);
        free(kept);
        fclose(file);
        return 1;
    }
    fclose(file);
    free(sample.values);
    free(sample.name);
    sample.values = values;
    sample.name = kept;
    sample.count = there / sizeof(float);
    return 0;
}

int sd_check(int argc, char **argv, char *error, size_t error_size) {
    if (argc == 1) return load(argv[0], 0, error, error_size);
    snprintf(error, error_size, "%d arguments, but it takes 1: FILE", argc);
    return 1;
}

float sd(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
         uint64_t *domain_block_number, uint64_t *position_in_block, int argc, char **argv) {
    (void)mpi_rank;
    (void)system_size;
    (void)domain_block_number;
    char error[64];
    if (!sample.values && (argc != 1 || load(argv[0], 0, error, sizeof error) != 0)) return NAN;
    const uint64_t *size = domain_block_size, *at = position_in_block;
    const uint64_t index = (at[2] * size[1] + at[1]) * size[0] + at[0];
    return index < sample.count ? sample.values[index] : NAN;
}

int sd_of_domain_check(int argc, char **argv, char *error, size_t error_size) {
    uint64_t extent[3], bytes;
    if (argc != arguments) {
        snprintf(error, error_size, "%d arguments, but it takes 4: FILE NX NY NZ", argc);
        return 1;
    }
    for (int d = 0; d < 3; ++d)
        if (!read_extent(argv[1 + d], &extent[d])) {
            snprintf(error, error_size, "argument %d, \"%.80s\", is not a whole number above 0",
                     1 + d, argv[1 + d]);
            return 1;
        }
    if (!product(extent, &bytes) || bytes > SIZE_MAX) {
        snprintf(error, error_size, "%s x %s x %s numbers are too many", argv[1], argv[2], argv[3]);
        return 1;
    }
    if (load(argv[0], bytes, error, error_size) != 0) return 1;
    memcpy(sample.extent, extent, sizeof extent);
    return 0;
}

float sd_of_domain(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
                   uint64_t *domain_block_number, uint64_t *position_in_block, int argc,
                   char **argv) {
    (void)mpi_rank;
    (void)system_size;
    char error[64];
    if (!sample.values && sd_of_domain_check(argc, argv, error, sizeof error) != 0) return NAN;
    uint64_t index[3];
    for (int d = 0; d < 3; ++d)
        index[d] = (domain_block_number[d] * domain_block_size[d] + position_in_block[d]) %
                   sample.extent[d];
    return sample.values[(index[2] * sample.extent[1] + index[1]) * sample.extent[0] + index[0]];
}
