/* SPDX-License-Identifier: Apache-2.0 */
/* A three-dimensional Gaussian over the whole domain: values differ by position, smoothly, so that
 * they show misplaced blocks and compress like real data.
 *
 *   use_function_lib libplugins.so
 *   use_function_name gaussian
 *   use_function_argc 4
 *   use_function_argv 1 1 1 1
 *
 * Arguments: amplitude, and the widths in x, y and z as fractions of the domain. With c the centre
 * of an element as a fraction of the domain, 0 < c < 1 in each direction, the value is
 *
 *   amplitude * exp(-((cx - 1/2)^2 / wx^2 + (cy - 1/2)^2 / wy^2 + (cz - 1/2)^2 / wz^2) / 2)
 *
 * computed in double and rounded to float. With widths of 1 no value is below 0.68 amplitude, and
 * a value repeats only by the symmetry of the function or by rounding. */
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

float gaussian(int mpi_rank, uint64_t *system_size, uint64_t *domain_block_size,
               uint64_t *domain_block_number, uint64_t *position_in_block, int argc, char **argv) {
    (void)mpi_rank;
    if (argc != arguments) return NAN;
    double exponent = 0;
    for (int d = 0; d < 3; ++d) {
        const double extent = (double)system_size[d] * (double)domain_block_size[d];
        const double index = (double)domain_block_number[d] * (double)domain_block_size[d] +
                             (double)position_in_block[d];
        const double from_centre = (index + 0.5) / extent - 0.5;
        const double width = strtod(argv[1 + d], NULL);
        exponent += (from_centre / width) * (from_centre / width);
    }
    return (float)(strtod(argv[0], NULL) * exp(-0.5 * exponent));
}
