/* SPDX-License-Identifier: Apache-2.0 */
/* Sample data from a file: raw float32 numbers in the machine's byte order, x running fastest.
 *
 *   use_function_lib libplugins.so
 *   use_function_name sd
 *   use_function_argc 4
 *   use_function_argv FILE NX NY NZ
 *
 * The element at the global position (x, y, z) gets the number with index (z * NY + y) * NX + x of
 * the file, which holds exactly NX * NY * NZ numbers. A domain that is larger than the sample
 * repeats it in each direction. A name with blanks cannot be given: arguments end at a blank. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tailrace/fill_plugin.h"

enum { arguments = 4 };

/* One sample per process, read at the first use and kept. */
static struct {
    char *name;
    uint64_t extent[3];
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

static int load(int argc, char **argv, char *error, size_t error_size) {
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
    if (sample.values && strcmp(sample.name, argv[0]) == 0 &&
        memcmp(sample.extent, extent, sizeof extent) == 0)
        return 0;

    FILE *file = fopen(argv[0], "rb");
    if (!file) {
        snprintf(error, error_size, "cannot open the sample \"%.400s\": %s", argv[0],
                 strerror(errno));
        return 1;
    }
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size != bytes) {
        snprintf(error, error_size,
                 "the sample \"%.400s\" has %lld bytes, but %s x %s x %s numbers of 4 bytes are "
                 "%llu bytes",
                 argv[0], (long long)status.st_size, argv[1], argv[2], argv[3],
                 (unsigned long long)bytes);
        fclose(file);
        return 1;
    }
    float *values = malloc((size_t)bytes);
    char *name = strdup(argv[0]);
    if (!values || !name || fread(values, 1, (size_t)bytes, file) != bytes) {
        snprintf(error, error_size, "cannot read the %llu bytes of the sample \"%.400s\"",
                 (unsigned long long)bytes, argv[0]);
        free(values);
        free(name);
        fclose(file);
        return 1;
    }
    fclose(file);
    free(sample.values);
    free(sample.name);
    sample.values = values;
    sample.name = name;
    memcpy(sample.extent, extent, sizeof extent);
    return 0;
}

int sd_check(int argc, char **argv, char *error, size_t error_size) {
    return load(argc, argv, error, error_size);
}

float sd(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
         uint64_t *domain_block_number, uint64_t *position_in_block, int argc, char **argv) {
    (void)mpi_rank;
    (void)system_size;
    if (!sample.values) {
        char error[64];
        if (load(argc, argv, error, sizeof error) != 0) return NAN;
    }
    uint64_t index[3];
    for (int d = 0; d < 3; ++d)
        index[d] = (domain_block_number[d] * domain_block_size[d] + position_in_block[d]) %
                   sample.extent[d];
    return sample.values[(index[2] * sample.extent[1] + index[1]) * sample.extent[0] + index[0]];
}
