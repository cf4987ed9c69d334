/* SPDX-License-Identifier: Apache-2.0 */
/* A small weather model: four 2-D fields (height, distance) per step, each rank has a part of the
 * distance, and all write together (PnetCDF, collective, blocking). */
#include <pnetcdf.h>

#include "common.h"

enum { heights = 256, distances = 512, fields = 4 };

static const char* const names[fields] = {"density", "uwind", "wwind", "theta"};

/* A pattern that moves by a place per step, the same for any number of ranks. */
static void advance(double* values, int mine, int first, long long step, int field) {
    for (int level = 0; level < heights; ++level)
        for (int at = 0; at < mine; ++at) {
            const long long place = (first + at + step * (field + 1)) % distances;
            values[level * mine + at] = (double)((place * place + level * 31) % 1009) * 0.125;
        }
}

int main(int argc, char** argv) {
    int rank, ranks, file, dimensions[3], variables[fields];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "weather.nc");
    const long long steps = scaled(&options, 500, 1);
    const int first = distances * rank / ranks;
    const int mine = distances * (rank + 1) / ranks - first;

    need(ncmpi_create(MPI_COMM_WORLD, options.output, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &file) == NC_NOERR,
         "ncmpi_create");
    need(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]) == NC_NOERR &&
             ncmpi_def_dim(file, "height", heights, &dimensions[1]) == NC_NOERR &&
             ncmpi_def_dim(file, "distance", distances, &dimensions[2]) == NC_NOERR,
         "ncmpi_def_dim");
    for (int field = 0; field < fields; ++field)
        need(ncmpi_def_var(file, names[field], NC_DOUBLE, 3, dimensions, &variables[field]) ==
                 NC_NOERR,
             "ncmpi_def_var");
    need(ncmpi_enddef(file) == NC_NOERR, "ncmpi_enddef");

    double* values = malloc(sizeof *values * heights * (size_t)mine);
    need(values != NULL, "malloc");
    for (long long step = 0; step < steps; ++step)
        for (int field = 0; field < fields; ++field) {
            const MPI_Offset start[3] = {step, 0, first}, count[3] = {1, heights, mine};
            advance(values, mine, first, step, field);
            need(
                ncmpi_put_vara_double_all(file, variables[field], start, count, values) == NC_NOERR,
                "ncmpi_put_vara_double_all");
        }
    free(values);
    need(ncmpi_close(file) == NC_NOERR, "ncmpi_close");
    MPI_Finalize();
    return 0;
}
