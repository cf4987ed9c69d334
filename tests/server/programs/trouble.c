/* SPDX-License-Identifier: Apache-2.0 */
/* A model that gets into trouble: ./trouble CASE [options of the server]. Each rank of the model
 * prints a line per call that failed: "rank R call CODE: text". It goes on to its end. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tailrace/server.h>

enum { NX = 16, ROWS = 8, STEPS = 4 };

static int rank, size;
static const char* trouble = "";

static int is(const char* name) { return strcmp(trouble, name) == 0; }

static int look(const char* call, int code) {
    if (code != TAILRACE_OK) {
        printf("rank %d %s %d: %s\n", rank, call, code, tailrace_error_text());
        fflush(stdout);
    }
    return code;
}

static int64_t collection(tailrace_server* server, const char* name, const char* options,
                          uint64_t rows, int more) {
    const char* const space[] = {"time", "y", "x"};
    int64_t id = -1;
    tailrace_metadata* m = NULL;
    look("metadata", tailrace_metadata_create(&m));
    look("dimension", tailrace_metadata_add_dimension(m, "time", 0));
    look("dimension", tailrace_metadata_add_dimension(m, "y", rows));
    look("dimension", tailrace_metadata_add_dimension(m, "x", NX));
    look("variable", tailrace_metadata_add_variable(m, "time", TAILRACE_REAL64, 1, space));
    look("variable", tailrace_metadata_add_variable(m, "T", TAILRACE_REAL32, 3, space));
    for (int i = 0; i < more; ++i) {
        char own[32];
        snprintf(own, sizeof own, "extra_%05d", i);
        look("variable", tailrace_metadata_add_variable(m, own, TAILRACE_REAL32, 3, space));
    }
    look("add_collection", tailrace_server_add_collection(server, name, m, options, &id));
    tailrace_metadata_free(m);
    return id;
}

static void put(tailrace_server* server, int64_t id, const char* file, const char* variable,
                tailrace_type type, int step) {
    static float field[ROWS * NX];
    const int row = is("overlap") && rank == 1 && step == 1 ? 0 : rank;
    const uint64_t start[] = {(uint64_t)row * ROWS, 0}, count[] = {ROWS, NX};
    for (int i = 0; i < ROWS * NX; ++i) field[i] = (float)(step * 100000 + rank * ROWS * NX + i);
    look("put",
         tailrace_server_put(server, id, file, variable, type, 2, start, count, field, -1));
}

static void steps(tailrace_server* server, int64_t good, int64_t bad) {
    const int odd = rank == size - 1;
    for (int step = 0; step < STEPS; ++step) {
        const double time = step;
        if (bad >= 0) put(server, bad, "missing/bad.nc4", "T", TAILRACE_REAL32, step);
        if (bad >= 0) look("end_step", tailrace_server_end_step(server, bad, &time));
        if (is("model_killed") && step == 2 && odd) raise(SIGKILL);
        if (is("pause")) usleep(400000);
        if (is("long_pause")) usleep(5000000);
        if (step == 1 && odd && is("another_variable"))
            put(server, good, "good.nc4", "extra_00000", TAILRACE_REAL32, step);
        else if (!(step == 1 && odd && is("left_out_put")))
            put(server, good, "good.nc4", "T",
                odd && is("wrong_type") ? TAILRACE_INT32 : TAILRACE_REAL32, step);
        if (step == 1 && odd && is("wrong_name"))
            put(server, good, "good.nc4", "TT", TAILRACE_REAL32, step);
        if (!(step == 1 && odd && is("left_out_step")))
            look("end_step", tailrace_server_end_step(server, good, &time));
        if (step == 1 && is("put_after_close")) {
            look("close_file", tailrace_server_close_file(server, good));
        }
    }
}

static void run(tailrace_server* server) {
    MPI_Comm comm = MPI_COMM_NULL;
    char* name = NULL;
    int64_t good = -1, bad = -1;
    look("comm", tailrace_server_comm(server, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (is("no_collection")) {
        look("finalize", tailrace_server_finalize(server));
        return;
    }
    if (is("long_name")) {
        name = malloc(4001);
        memset(name, 'n', 4000);
        name[4000] = 0;
    }
    const uint64_t rows = (uint64_t)size * ROWS + (is("another_shape") && rank == size - 1 ? 1 : 0);
    good = collection(server, name ? name : "good", is("small_queue") ? "queue_bytes=100" : is("many_variables") ? "format=hdf5" : "", rows,
                      is("many_variables") ? 12000 : 1);
    if (is("missing_folder")) bad = collection(server, "bad", "", rows, 0);
    if (good >= 0) steps(server, good, bad);
    look("finalize", tailrace_server_finalize(server));
    look("put_after_finalize", tailrace_server_end_step(server, good, NULL));
    free(name);
}

int main(int argc, char** argv) {
    tailrace_server* server = NULL;
    int is_model = 0;
    MPI_Init(&argc, &argv);
    if (argc > 1) trouble = argv[1];
    if (look("start", tailrace_server_start(MPI_COMM_WORLD, argc, argv, &server, &is_model)) == 0) {
        if (is_model) run(server);
        tailrace_server_free(server);
    }
    MPI_Finalize();
    if (is_model) printf("rank %d ended\n", rank);
    return 0;
}
