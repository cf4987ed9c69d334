// SPDX-License-Identifier: Apache-2.0
// netcdf_calls FOLDER [mpi]: much of netCDF-C, in FOLDER; what each call answered goes to
// FOLDER/lines.<rank>. Under the hooks the lines and the files have to be those of a run without.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { times = 5, rows = 8, columns = 12 };

static FILE* out;
static int rank, ranks = 1, parallel;

// A line: the call as it stands here, and its error code.
#define CALL(call) tell(#call, call)

static int tell(const char* what, int code) {
    fprintf(out, "%.60s: %d\n", what, code);
    fflush(out);
    return code;
}

static void tell_numbers(const char* what, const double* values, int count) {
    fprintf(out, "%s:", what);
    for (int n = 0; n < count; ++n) fprintf(out, " %g", values[n]);
    fprintf(out, "\n");
}

static int create(const char* name, int mode) {
    int file = -1;
    if (parallel) {
        CALL(nc_create_par(name, mode | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    } else {
        CALL(nc_create(name, mode | NC_NETCDF4, &file));
    }
    return file;
}

static int opened(const char* name, int mode) {
    int file = -1;
    if (parallel) {
        CALL(nc_open_par(name, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    } else {
        CALL(nc_open(name, mode, &file));
    }
    return file;
}

static void together(int file, int variable) {
    if (parallel) CALL(nc_var_par_access(file, variable, NC_COLLECTIVE));
}

static void variables(int file) {
    int dims[3];
    int plain, packed, grown;
    size_t chunk[3] = {1, rows, columns};
    const float fill = -9;
    const double scale[2] = {0.5, 10};
    CALL(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CALL(nc_def_dim(file, "y", rows, &dims[1]));
    CALL(nc_def_dim(file, "x", columns, &dims[2]));
    CALL(nc_def_var(file, "plain", NC_DOUBLE, 2, dims + 1, &plain));
    CALL(nc_def_var(file, "packed", NC_SHORT, 2, dims + 1, &packed));
    CALL(nc_def_var(file, "grown", NC_FLOAT, 3, dims, &grown));
    CALL(nc_def_var_chunking(file, grown, NC_CHUNKED, chunk));
    CALL(nc_def_var_deflate(file, grown, 1, 1, 2));
    CALL(nc_def_var_fletcher32(file, grown, NC_FLETCHER32));
    CALL(nc_def_var_fill(file, grown, NC_FILL, &fill));
    CALL(nc_def_var_endian(file, packed, NC_ENDIAN_BIG));
    CALL(nc_set_var_chunk_cache(file, grown, 1 << 20, 101, 0.5F));
    CALL(nc_put_att_text(file, grown, "units", 1, "K"));
    CALL(nc_put_att_double(file, packed, "scale", NC_DOUBLE, 2, scale));
    CALL(nc_put_att_text(file, NC_GLOBAL, "title", 6, "a file"));
    CALL(nc_enddef(file));
    together(file, plain);
    together(file, grown);
    const size_t mine = rows / (size_t)ranks;
    double values[rows * columns];
    for (int n = 0; n < rows * columns; ++n) values[n] = n + 1000 * rank;
    const size_t from[2] = {mine * (size_t)rank, 0}, count[2] = {mine, columns};
    CALL(nc_put_vara_double(file, plain, from, count, values));
    const ptrdiff_t step[2] = {1, 3};
    const size_t few[2] = {mine, 4};
    CALL(nc_put_vars_double(file, packed, from, few, step, values));
    for (size_t t = 0; t < times; ++t) {
        const size_t at[3] = {t + (t == 4), from[0], 0}, of[3] = {1, mine, columns};
        CALL(nc_put_vara_double(file, grown, at, of, values));
    }
    CALL(nc_sync(file));
    size_t length = 0;
    CALL(nc_inq_dimlen(file, dims[0], &length));
    double back[3];
    const size_t first[3] = {4, 1, 2}, three[3] = {1, 1, 3};
    CALL(nc_get_vara_double(file, grown, first, three, back));  // a step that was left out
    tell_numbers("filled", back, 3);
    fprintf(out, "steps: %zu\n", length);
}

static void groups_and_names(int file) {
    int group, inner, dim, variable, id;
    CALL(nc_redef(file));
    CALL(nc_def_grp(file, "a", &group));
    CALL(nc_def_grp(group, "b", &inner));
    CALL(nc_def_dim(inner, "z", 4, &dim));
    CALL(nc_def_var(inner, "w", NC_INT, 1, &dim, &variable));
    for (int n = 0; n < 12; ++n) {
        char name[16];
        snprintf(name, sizeof name, "many%d", n);
        CALL(nc_put_att_int(inner, NC_GLOBAL, name, NC_INT, 1, &n));
    }
    CALL(nc_rename_att(inner, NC_GLOBAL, "many4", "other"));
    CALL(nc_del_att(inner, NC_GLOBAL, "many3"));
    CALL(nc_enddef(file));
    const int values[4] = {1, 2, 3, 4};
    together(inner, variable);
    CALL(nc_put_var_int(inner, variable, values));
    CALL(nc_redef(file));
    CALL(nc_rename_var(file, 0, "renamed"));
    CALL(nc_rename_grp(group, "new"));
    CALL(nc_enddef(file));
    CALL(nc_inq_grp_ncid(file, "a", &id));
    CALL(nc_inq_varid(file, "plain", &id));
}

static void types(int file) {
    int compound, ragged, cloud, opaque, dim, variable[4];
    const struct { float re, im; } number[3] = {{1, 2}, {3, 4}, {5, 6}};
    int numbers[3] = {7, 8, 9};
    const nc_vlen_t parts[3] = {{1, numbers}, {3, numbers}, {0, NULL}};
    const char* words[3] = {"one", "", "three"};
    const signed char seen[3] = {0, 2, 0};
    const signed char low = 2, clear = 0;
    CALL(nc_def_dim(file, "n", 3, &dim));
    CALL(nc_def_compound(file, sizeof number[0], "complex", &compound));
    CALL(nc_insert_compound(file, compound, "re", 0, NC_FLOAT));
    CALL(nc_insert_compound(file, compound, "im", 4, NC_FLOAT));
    CALL(nc_def_vlen(file, "ragged", NC_INT, &ragged));
    CALL(nc_def_enum(file, NC_BYTE, "cloud", &cloud));
    CALL(nc_insert_enum(file, cloud, "clear", &clear));
    CALL(nc_insert_enum(file, cloud, "low", &low));
    CALL(nc_def_opaque(file, 5, "five", &opaque));
    CALL(nc_def_var(file, "c", compound, 1, &dim, &variable[0]));
    CALL(nc_def_var(file, "r", ragged, 1, &dim, &variable[1]));
    CALL(nc_def_var(file, "s", NC_STRING, 1, &dim, &variable[2]));
    CALL(nc_def_var(file, "e", cloud, 1, &dim, &variable[3]));
    CALL(nc_put_var(file, variable[0], number));
    CALL(nc_put_var(file, variable[1], parts));
    CALL(nc_put_var_string(file, variable[2], words));
    CALL(nc_put_var(file, variable[3], seen));
    nc_vlen_t back[3];
    CALL(nc_get_var(file, variable[1], back));
    fprintf(out, "ragged: %zu %zu %d\n", back[0].len, back[1].len, ((int*)back[1].p)[2]);
    nc_free_vlens(3, back);
    char* texts[3];
    CALL(nc_get_var_string(file, variable[2], texts));
    fprintf(out, "texts: %s %s\n", texts[0], texts[2]);
    nc_free_string(3, texts);
}

static void errors(int file) {
    int id;
    double value;
    const size_t far[2] = {rows + 1, 0};
    const size_t chunk[2] = {99, 99};
    CALL(nc_inq_varid(file, "nothing", &id));
    CALL(nc_def_dim(file, "x", 3, &id));
    CALL(nc_get_var1_double(file, 0, far, &value));
    CALL(nc_get_att_double(file, 0, "nothing", &value));
    CALL(nc_def_var(file, "a/b", NC_INT, 0, NULL, &id));
    CALL(nc_def_var_chunking(file, 0, NC_CHUNKED, chunk));
    CALL(nc_def_var_deflate(file, 77, 0, 1, 1));
    CALL(nc_inq_grp_ncid(file, "none", &id));
    opened("absent.nc", NC_NOWRITE);
    opened("text.nc", NC_NOWRITE);
    const int twice = create("all.nc", NC_NOCLOBBER);
    if (twice >= 0) CALL(nc_close(twice));
    CALL(nc_close(12345));
}

static void read_again(void) {
    const int file = opened("all.nc", NC_NOWRITE);
    int variable, group;
    double values[rows * columns];
    CALL(nc_inq_varid(file, "renamed", &variable));
    together(file, variable);
    CALL(nc_get_var_double(file, variable, values));
    tell_numbers("read again", values + 40, 6);
    CALL(nc_inq_grp_full_ncid(file, "/new/b", &group));
    CALL(nc_put_att_int(file, NC_GLOBAL, "q", NC_INT, 1, &rank));
    CALL(nc_close(file));
}

int main(int count, char** words) {
    if (count < 2 || chdir(words[1]) != 0) return 2;
    parallel = count > 2 && strcmp(words[2], "mpi") == 0;
    if (parallel) {
        MPI_Init(&count, &words);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }
    char name[32];
    snprintf(name, sizeof name, "lines.%d", rank);
    out = fopen(name, "w");
    if (out == NULL) return 2;
    if (rank == 0) {
        FILE* text = fopen("text.nc", "w");
        if (text == NULL || fputs("no netCDF at all, but some text\n", text) < 0) return 2;
        fclose(text);
    }
    if (parallel) MPI_Barrier(MPI_COMM_WORLD);
    const int file = create("all.nc", NC_CLOBBER);
    variables(file);
    groups_and_names(file);
    if (!parallel) types(file);  // variable length is not for several ranks
    errors(file);
    CALL(nc_close(file));
    read_again();
    fclose(out);
    if (parallel) MPI_Finalize();
    puts("done");
    return 0;
}
