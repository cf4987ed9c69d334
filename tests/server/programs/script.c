/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the C door, a line of a file each: script FILE [options of the server]. Rank 0 says
 * which lines failed, as "LINE: STATUS TEXT". Rank 0 puts, the others have nothing; element i of a
 * block is VALUE + i. dim NAME SIZE          var NAME TYPE [DIM...]       drop NAME text VAR|- NAME
 * TEXT   numbers VAR|- NAME TYPE N... storage VAR TEXT fill VAR TYPE N        constant VAR TYPE
 * N...       collection NAME OPTIONS|- date Y M D             edit (the collection's metadata from
 * here on) put FILE|- VAR TYPE RECORD VALUE [START COUNT]...   nothing FILE|- VAR TYPE RECORD
 * [COUNT]... step [TIME]            close                        flush                die */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tailrace/server.h>

enum { most_words = 64, most_elements = 1 << 20 };

static tailrace_server* server;
static tailrace_metadata *own, *metadata;
static int64_t collection;
static int rank, words;
static char* word[most_words];
static const char* type_names[] = {"int8",   "int16",  "int32", "int64",
                                   "real32", "real64", "char",  "none"};

static int is(const char* name) { return strcmp(word[0], name) == 0; }
static const char* name_or_null(const char* text) { return strcmp(text, "-") == 0 ? NULL : text; }

static tailrace_type type_of(const char* name) {
    int i = 0;
    while (strcmp(type_names[i], name) != 0) ++i;
    return (tailrace_type)i;
}

static void set(tailrace_type type, void* values, size_t i, double value) {
    switch (type) {
        case TAILRACE_INT8:
            ((int8_t*)values)[i] = (int8_t)value;
            break;
        case TAILRACE_INT16:
            ((int16_t*)values)[i] = (int16_t)value;
            break;
        case TAILRACE_INT32:
            ((int32_t*)values)[i] = (int32_t)value;
            break;
        case TAILRACE_INT64:
            ((int64_t*)values)[i] = (int64_t)value;
            break;
        case TAILRACE_REAL32:
            ((float*)values)[i] = (float)value;
            break;
        case TAILRACE_REAL64:
            ((double*)values)[i] = value;
            break;
        case TAILRACE_CHAR:
            ((char*)values)[i] = (char)value;
            break;
    }
}

static double values[most_elements]; /* as large as any type needs */

static size_t listed(tailrace_type type, int first) {
    for (int i = first; i < words; ++i) set(type, values, (size_t)(i - first), atof(word[i]));
    return (size_t)(words - first);
}

static int put(void) {
    const int has_data = is("put"), first = has_data ? 6 : 5, pace = has_data ? 2 : 1;
    const tailrace_type type = type_of(word[3]);
    uint64_t start[8] = {0}, count[8] = {0}, elements = 1;
    const double first_value = has_data ? atof(word[5]) : 0;
    int ndims = 0;
    for (int i = first; i + pace <= words; i += pace, ++ndims) {
        start[ndims] = has_data ? strtoull(word[i], NULL, 10) : 0;
        count[ndims] = strtoull(word[i + pace - 1], NULL, 10);
        elements *= count[ndims];
    }
    if (has_data)
        for (uint64_t i = 0; i < elements; ++i) set(type, values, i, first_value + (double)i);
    return tailrace_server_put(server, collection, name_or_null(word[1]), word[2], type, ndims,
                               start, count, has_data && rank == 0 ? values : NULL, atoll(word[4]));
}

static int of_metadata(void) {
    if (is("dim"))
        return tailrace_metadata_add_dimension(metadata, word[1], strtoull(word[2], 0, 10));
    if (is("var"))
        return tailrace_metadata_add_variable(metadata, word[1], type_of(word[2]), words - 3,
                                              (const char* const*)&word[3]);
    if (is("drop")) return tailrace_metadata_remove_variable(metadata, word[1]);
    if (is("text"))
        return tailrace_metadata_set_text(metadata, name_or_null(word[1]), word[2], word[3]);
    if (is("storage")) return tailrace_metadata_set_storage(metadata, word[1], word[2]);
    if (is("fill")) {
        listed(type_of(word[2]), 3);
        return tailrace_metadata_set_fill(metadata, word[1], type_of(word[2]), values);
    }
    if (is("constant")) {
        const size_t count = listed(type_of(word[2]), 3);
        return tailrace_metadata_set_constant(metadata, word[1], type_of(word[2]), count, values);
    }
    if (is("numbers")) {
        const size_t count = listed(type_of(word[3]), 4);
        return tailrace_metadata_set_numbers(metadata, name_or_null(word[1]), word[2],
                                             type_of(word[3]), count, values);
    }
    fprintf(stderr, "what is %s?\n", word[0]);
    exit(1);
}

static int called(void) {
    if (is("collection"))
        return tailrace_server_add_collection(server, word[1], metadata, name_or_null(word[2]),
                                              &collection);
    if (is("edit")) return tailrace_server_metadata(server, collection, &metadata);
    if (is("date"))
        return tailrace_server_set_date(server, collection, atoll(word[1]), atoi(word[2]),
                                        atoi(word[3]), 0, 0, 0);
    if (is("put") || is("nothing")) return put();
    if (is("step")) {
        const double time = words > 1 ? atof(word[1]) : 0;
        return tailrace_server_end_step(server, collection, words > 1 ? &time : NULL);
    }
    if (is("close")) return tailrace_server_close_file(server, collection);
    if (is("die")) raise(SIGKILL);
    if (is("flush")) return tailrace_server_flush(server, collection);
    return of_metadata();
}

static void run(FILE* script) {
    char line[4096];
    for (int number = 1; fgets(line, sizeof line, script) != NULL; ++number) {
        words = 0;
        for (char* one = strtok(line, " \n"); one != NULL; one = strtok(NULL, " \n"))
            word[words++] = one;
        for (int i = words; i < most_words; ++i) word[i] = NULL;
        if (words == 0) continue;
        const int status = called();
        if (status != 0 && rank == 0) printf("%d: %d %s\n", number, status, tailrace_error_text());
    }
    const int status = tailrace_server_finalize(server);
    if (status != 0 && rank == 0) printf("finalize: %d %s\n", status, tailrace_error_text());
}

int main(int argc, char** argv) {
    int is_model = 0;
    MPI_Init(&argc, &argv);
    FILE* script = fopen(argv[1], "r");
    int status = tailrace_server_start(MPI_COMM_WORLD, argc, argv, &server, &is_model);
    if (status != 0) {
        printf("start: %d %s\n", status, tailrace_error_text());
    } else if (is_model) {
        MPI_Comm comm = MPI_COMM_NULL;
        tailrace_server_comm(server, &comm);
        MPI_Comm_rank(comm, &rank);
        tailrace_metadata_create(&own);
        metadata = own;
        run(script);
        tailrace_metadata_free(own);
    }
    tailrace_server_free(server);
    fclose(script);
    MPI_Finalize();
    return 0;
}
