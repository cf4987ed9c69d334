/* SPDX-License-Identifier: Apache-2.0 */
/* Three-dimensional Gaussians over the whole domain: values differ by position, smoothly, so that
 * they show misplaced blocks and compress like real data. Both take four arguments: amplitude, and
 * the widths in x, y and z. A value repeats only by the symmetry of the function or by rounding.
 *
 * gaussian: the function of this name that seism-core came with. With i the index of an element in
 * the whole domain, n its extent, and w the widths in elements,
 *
 *   amplitude * exp(-((ix - nx/2)^2 / wx^2 + (iy - ny/2)^2 / wy^2 + (iz - nz/2)^2 / wz^2))
 *
 * in float. With widths of 1 it is 0 in all but the few elements around the centre.
 *
 * gaussian_of_domain: widths as fractions of the domain, so that they fit each size. With c the
 * centre of an element as a fraction of the domain, 0 < c < 1 in each direction,
 *
 *   amplitude * exp(-((cx - 1/2)^2 / wx^2 + (cy - 1/2)^2 / wy^2 + (cz - 1/2)^2 / wz^2) / 2)
 *
 * in double, rounded to float. With widths of 1 no value is below 0.68 amplitude.
 *
 *   use_function_lib libplugins.so
 *   use_function_name gaussian_of_domain
 *   use_function_argc 4
 *   use_function_argv 1 1 1 1
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tailrace/fill_plugin.h"

enum { arguments = 4 };

static int read_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

int gaussian_check(int argc, char **argv, char *error, size_t error_size) {
    if (argc != arguments) {
        snprintf(error, error_size, "%d arguments, but it takes 4: amplitude and three widths",
                 argc);
        return 1;
    }
    for (int i = 0; i < arguments; ++i) {
        double value;
        if (!read_number(argv[i], &value) || (i > 0 && value <= 0)) {
            snprintf(error, error_size, "argument %d, \"%.80s\", is not %s", i, argv[i],
                     i > 0 ? "a width above 0" : "a number");
            return 1;
        }
    }
    return 0;
}

int gaussian_of_domain_check(int argc, char **argv, char *error, size_t error_size) {
    return gaussian_check(argc, argv, error, error_size);
}

static uint64_t index_of(int d, const uint64_t *block, const uint64_t *size, const uint64_t *at) {
    return block[d] * size[d] + at[d];
}

float gaussian(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
               uint64_t *domain_block_number, uint64_t *position_in_block, int argc, char **argv) {
    (void)mpi_rank;
    if (argc != arguments) return NAN;
    float exponent = 0;
    for (int d = 0; d < 3; ++d) {
        const float centre = (float)(0.5 * (double)(system_size[d] * domain_block_size[d]));
        const float index =
            (float)index_of(d, domain_block_number, domain_block_size, position_in_block);
        const float width = strtof(argv[1 + d], NULL);
        exponent += (index - centre) * (index - centre) / (width * width);
    }
    return (float)((double)strtof(argv[0], NULL) * exp(-(double)exponent));
}

float gaussian_of_domain(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
                         uint64_t *domain_block_number, uint64_t *position_in_block, int argc,
                         char **argv) {
    (void)mpi_rank;
    if (argc != arguments) return NAN;
    double exponent = 0;
    for (int d = 0; d < 3; ++d) {
        const double extent = (double)system_size[d] * (double)domain_block_size[d];
        const double index =
            (double)index_of(d, domain_block_number, domain_block_size, position_in_block);
        const double from_centre = (index + 0.5) / extent - 0.5;
        const double width = strtod(argv[1 + d], NULL);
        exponent += (from_centre / width) * (from_centre / width);
    }
    return (float)(strtod(argv[0], NULL) * exp(-0.5 * exponent));
}
