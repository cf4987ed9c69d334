/* SPDX-License-Identifier: Apache-2.0 */
/* Many small variables per step, each put by all ranks together in a call of its own (PnetCDF). By
 * hand: put without waiting, and one wait for all of a step. */
#include <pnetcdf.h>

#include "common.h"

enum { variables = 200, places = 256 };

int main(int argc, char** argv) {
    int rank, ranks, file, dimensions[2], variable[variables], request[variables];
    int status[variables];
    static double values[variables][places];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "puts.nc");
    const long long steps = scaled(&options, 150, 1);
    const int first = places * rank / ranks;
    const int mine = places * (rank + 1) / ranks - first;

    need(ncmpi_create(MPI_COMM_WORLD, options.output, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &file) == NC_NOERR,
         "ncmpi_create");
    need(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]) == NC_NOERR &&
             ncmpi_def_dim(file, "place", places, &dimensions[1]) == NC_NOERR,
         "ncmpi_def_dim");
    for (int number = 0; number < variables; ++number) {
        char name[16];
        snprintf(name, sizeof name, "tracer%03d", number);
        need(ncmpi_def_var(file, name, NC_DOUBLE, 2, dimensions, &variable[number]) == NC_NOERR,
             "ncmpi_def_var");
    }
    need(ncmpi_enddef(file) == NC_NOERR, "ncmpi_enddef");

    for (long long step = 0; step < steps; ++step) {
        const MPI_Offset start[2] = {step, first}, count[2] = {1, mine};
        for (int number = 0; number < variables; ++number) {
            double* of_variable = values[number];
            for (int at = 0; at < mine; ++at)
                of_variable[at] = (double)(step * 31 + number * 7 + first + at) * 0.125;
            need((options.by_hand ? ncmpi_iput_vara_double(file, variable[number], start, count,
                                                           of_variable, &request[number])
                                  : ncmpi_put_vara_double_all(file, variable[number], start, count,
                                                              of_variable)) == NC_NOERR,
                 "a put");
        }
        if (options.by_hand)
            need(ncmpi_wait_all(file, variables, request, status) == NC_NOERR, "ncmpi_wait_all");
    }
    need(ncmpi_close(file) == NC_NOERR, "ncmpi_close");
    MPI_Finalize();
    return 0;
}
