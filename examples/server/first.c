/* SPDX-License-Identifier: Apache-2.0 */
/* A model of two fields on four ranks, or as many as there are, in daily files:
 *
 *   mpiexec -n 6 ./first --npes_output_server 2     two more ranks write
 *   mpiexec -n 4 ./first                            the model writes itself
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <tailrace/server.h>

enum { NX = 90, NY = 46, STEPS = 18, STEPS_PER_DAY = 6 };

/* Every rank hears the same statuses, so every rank stops here or none. */
static void must(int code) {
    if (code == TAILRACE_OK) return;
    fprintf(stderr, "%s\n", tailrace_error_text());
    exit(code);
}

static tailrace_metadata* describe(void) {
    const char* const space[] = {"time", "lat", "lon"};
    double lat[NY];
    tailrace_metadata* m = NULL;
    for (int j = 0; j < NY; ++j) lat[j] = -90.0 + 180.0 * j / (NY - 1);
    must(tailrace_metadata_create(&m));
    must(tailrace_metadata_add_dimension(m, "time", 0));
    must(tailrace_metadata_add_dimension(m, "lat", NY));
    must(tailrace_metadata_add_dimension(m, "lon", NX));
    must(tailrace_metadata_add_variable(m, "time", TAILRACE_REAL64, 1, space));
    must(tailrace_metadata_set_text(m, "time", "units", "hours since 2000-01-01 00:00:00"));
    must(tailrace_metadata_add_variable(m, "lat", TAILRACE_REAL64, 1, space + 1));
    must(tailrace_metadata_set_constant(m, "lat", TAILRACE_REAL64, NY, lat));
    must(tailrace_metadata_add_variable(m, "T", TAILRACE_REAL32, 3, space));
    must(tailrace_metadata_set_text(m, "T", "units", "K"));
    must(tailrace_metadata_add_variable(m, "ps", TAILRACE_REAL32, 3, space));
    return m;
}

/* The rows of this rank. */
static void compute(float* field, int step, int first, int rows) {
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < NX; ++i)
            field[j * NX + i] = (float)(step * 10000 + (first + j) * NX + i);
}

static void run(tailrace_server* server) {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;
    int64_t id = 0;
    must(tailrace_server_comm(server, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    tailrace_metadata* m = describe();
    must(tailrace_server_add_collection(server, "history", m,
                                        "file=history.%Y%m%d.nc4; existing=replace", &id));
    tailrace_metadata_free(m);

    const int first = NY * rank / size, rows = NY * (rank + 1) / size - first;
    const uint64_t start[] = {(uint64_t)first, 0}, count[] = {(uint64_t)rows, NX};
    float* field = malloc(sizeof(float) * NX * (size_t)(rows + 1));
    for (int step = 0; step < STEPS; ++step) {
        const double hours = step * 24.0 / STEPS_PER_DAY;
        must(tailrace_server_set_date(server, id, 2000, 1, 1 + step / STEPS_PER_DAY, 0, 0, 0));
        compute(field, step, first, rows);
        must(tailrace_server_put(server, id, NULL, "T", TAILRACE_REAL32, 2, start, count, field,
                                 -1));
        compute(field, step + 100, first, rows); /* the array is free again */
        must(tailrace_server_put(server, id, NULL, "ps", TAILRACE_REAL32, 2, start, count, field,
                                 -1));
        must(tailrace_server_end_step(server, id, &hours));
    }
    free(field);
    must(tailrace_server_finalize(server));
    if (rank == 0) printf("3 files are complete\n");
}

int main(int argc, char** argv) {
    tailrace_server* server = NULL;
    int is_model = 0;
    MPI_Init(&argc, &argv);
    must(tailrace_server_start(MPI_COMM_WORLD, argc, argv, &server, &is_model));
    if (is_model) run(server);
    tailrace_server_free(server);
    MPI_Finalize();
    return 0;
}
