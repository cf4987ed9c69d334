/* SPDX-License-Identifier: Apache-2.0 */
/* A model that gets into trouble: ./trouble CASE [options of the server]. Each rank of the model
 * prints a line per call that failed: "rank R call CODE: text". It goes on to its end.
 * TROUBLE_FILES="a/b.nc4 c/d.h5": collections beside good.nc4, each with wide records; in the case
 * "vanish" the folder "gone" is removed after two steps. In the case "no_memory" the rank that
 * TROUBLE_RANK names has no memory for the first record of the first of them; in the case "late"
 * they begin at step 3, once somebody has made the file "go". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tailrace/server.h>

enum { NX = 16, WIDE = 16384, ROWS = 8, STEPS = 4, MOST = 32 };

static int rank, size, others = 0;
static int64_t other[MOST];
static char* file_of[MOST];
static const char* trouble = "";

static int is(const char* name) { return strcmp(trouble, name) == 0; }

/* With TROUBLE_HEARD=FILE also into FILE.R: a launcher cuts long lines of ranks into each other. */
static int look(const char* call, int code) {
    if (code == TAILRACE_OK) return code;
    printf("rank %d %s %d: %s\n", rank, call, code, tailrace_error_text());
    fflush(stdout);
    if (getenv("TROUBLE_HEARD") != NULL) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", getenv("TROUBLE_HEARD"), rank);
        FILE* own = fopen(name, "a");
        if (own == NULL) abort();
        fprintf(own, "%s: %s\n", call, tailrace_error_text());
        fclose(own);
    }
    return code;
}

static int64_t collection(tailrace_server* server, const char* name, const char* options,
                          uint64_t rows, uint64_t columns, int more) {
    const char* const space[] = {"time", "y", "x"};
    int64_t id = -1;
    tailrace_metadata* m = NULL;
    look("metadata", tailrace_metadata_create(&m));
    look("dimension", tailrace_metadata_add_dimension(m, "time", 0));
    look("dimension", tailrace_metadata_add_dimension(m, "y", rows));
    look("dimension", tailrace_metadata_add_dimension(m, "x", columns));
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
                tailrace_type type, uint64_t columns, int step) {
    static float field[ROWS * WIDE];
    const int row = is("overlap") && rank == 1 && step == 1 ? 0 : rank;
    const uint64_t start[] = {(uint64_t)row * ROWS, 0}, count[] = {ROWS, columns};
    const int n = ROWS * (int)columns;
    for (int i = 0; i < n; ++i) field[i] = (float)(step * 1000000 + rank * n + i);
    look("put", tailrace_server_put(server, id, file, variable, type, 2, start, count, field, -1));
}

static void others_begin(tailrace_server* server, uint64_t rows) {
    char* files = getenv("TROUBLE_FILES");
    for (char* file = files ? strtok(files, " ") : NULL; file; file = strtok(NULL, " ")) {
        const char* format = strstr(file, ".h5") ? "format=hdf5" : "";
        file_of[others] = file;
        other[others++] = collection(server, file, format, rows, WIDE, 0);
    }
}

/* From now on there are no 256 KiB at once; 0: there are again. */
static void limit_memory(int on) {
    enum { PIECE = 256 << 10 };
    static void** held = NULL;
    struct rlimit limit;
    long pages = 0;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    FILE* of_process = fopen("/proc/self/statm", "r");
    if (of_process == NULL || fscanf(of_process, "%ld", &pages) != 1) abort();
    fclose(of_process);
    if (on) limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + PIECE;
    if (setrlimit(RLIMIT_AS, &limit) != 0) abort();
    for (void** piece = NULL; on && (piece = malloc(PIECE)) != NULL; held = piece) *piece = held;
    while (!on && held != NULL) {
        void** next = *held;
        free(held);
        held = next;
    }
}

static void wait_for(const char* file) {
    for (int i = 0; i < 600 && access(file, F_OK) != 0; ++i) usleep(50000);
}

static void others_step(tailrace_server* server, int step) {
    const double time = step;
    const char* poor = getenv("TROUBLE_RANK");
    for (int i = 0; i < others; ++i) {
        const int short_of_memory =
            is("no_memory") && step == 0 && i == 0 && poor != NULL && atoi(poor) == rank;
        if (short_of_memory) limit_memory(1);
        put(server, other[i], file_of[i], "T", TAILRACE_REAL32, WIDE, step);
        look("end_step", tailrace_server_end_step(server, other[i], &time));
        if (short_of_memory) limit_memory(0);
    }
    if (!is("vanish") || step != 1) return;
    if (rank == 0 && system("rm -r gone") != 0) printf("rank 0 rm 1: failed\n");
}

static void steps(tailrace_server* server, int64_t good) {
    const int odd = rank == size - 1;
    for (int step = 0; step < STEPS; ++step) {
        const double time = step;
        if (is("late") && step == 2) wait_for("go");
        if (!is("late") || step >= 2) others_step(server, step);
        if (is("model_killed") && step == 2 && odd) raise(SIGKILL);
        if (step == 2 && is("exits") && odd) exit(3);
        if (step == 2 && is("not_finalized")) return;
        if (is("pause")) usleep(400000);
        if (is("long_pause")) usleep(5000000);
        if (step == 1 && is("another_order")) {
            const char* const both[] = {odd ? "extra_00000" : "T", odd ? "T" : "extra_00000"};
            for (int i = 0; i < 2; ++i)
                put(server, good, "good.nc4", both[i], TAILRACE_REAL32, NX, step);
        } else if (step == 1 && odd && is("another_variable"))
            put(server, good, "good.nc4", "extra_00000", TAILRACE_REAL32, NX, step);
        else if (!(step == 1 && odd && is("left_out_put")))
            put(server, good, "good.nc4", "T",
                odd && is("wrong_type") ? TAILRACE_INT32 : TAILRACE_REAL32, NX, step);
        if (step == 1 && odd && is("wrong_name"))
            put(server, good, "good.nc4", "TT", TAILRACE_REAL32, NX, step);
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
    int64_t good = -1;
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
    const char* options = is("small_queue")      ? "queue_bytes=100"
                          : is("full_queue")     ? "queue_bytes=3080; when_full=error; format=hdf5"
                          : is("many_variables") ? "format=hdf5"
                                                 : "";
    good = collection(server, name ? name : "good", options, rows, NX,
                      is("many_variables") ? 12000 : 1);
    others_begin(server, rows);
    if (good >= 0) steps(server, good);
    if (is("not_finalized")) return;
    for (int i = 0; i < others && !is("only_finalize"); ++i)
        look("close_file", tailrace_server_close_file(server, other[i]));
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
        if (!is("not_finalized")) tailrace_server_free(server);
    }
    MPI_Finalize();
    if (is_model) printf("rank %d ended\n", rank);
    return 0;
}
