// SPDX-License-Identifier: Apache-2.0
// Files that are opened to append, read past their end, and given hints again.   mpiio_ends FOLDER
// All but `fresh` are there before, of 1000 bytes each.
#include <mpi.h>
#include <stdio.h>

enum { piece = 100, old = 1000 };

static int rank;
static char folder[4096], data[4 * old];

static void must(int error, const char* what) {
    if (error == MPI_SUCCESS) return;
    fprintf(stderr, "rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File begin_with(const char* name, int mode, MPI_Info info) {
    char path[8192];
    MPI_File file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file), "open");
    return file;
}

static MPI_File begin(const char* name, int mode) { return begin_with(name, mode, MPI_INFO_NULL); }

static void end(MPI_File file) { must(MPI_File_close(&file), "close"); }

static void write_at(const char* name, int mode, MPI_Offset at) {
    MPI_File file = begin(name, mode);
    must(MPI_File_write_at_all(file, at, data, piece, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    end(file);
}

static void append(void) {
    const int mode = MPI_MODE_WRONLY | MPI_MODE_APPEND;
    const MPI_Offset mine = (MPI_Offset)rank * piece;
    MPI_File file = begin("pointer", mode);
    must(MPI_File_seek(file, mine, MPI_SEEK_CUR), "seek");
    must(MPI_File_write(file, data, piece, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    end(file);
    write_at("behind", mode, old + mine);
    write_at("elsewhere", mode, mine);
    write_at("fresh", mode | MPI_MODE_CREATE, mine);
    write_at("plain", MPI_MODE_WRONLY, old + mine);
    file = begin("in_turn", mode | MPI_MODE_SEQUENTIAL);
    must(MPI_File_write_ordered(file, data, piece, MPI_BYTE, MPI_STATUS_IGNORE), "write_ordered");
    end(file);
}

// More than there is, of which ranks read parts for each other.
static void past_the_end(void) {
    MPI_File file = begin("short", MPI_MODE_RDONLY);
    must(MPI_File_read_at_all(file, rank * piece, data, 4 * old, MPI_BYTE, MPI_STATUS_IGNORE),
         "read_at_all");
    end(file);
}

// Open MPI tells no hints after MPI_File_set_info: what it told last stays.
static void ask(MPI_File file, char* value) {
    MPI_Info info;
    int there = 0;
    must(MPI_File_get_info(file, &info), "get_info");
    MPI_Info_get(info, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
}

// What was given, and is so again.
static void hints(void) {
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "none";
    const char* sizes[] = {"1048576", "2097152", "1048576"};
    must(MPI_Info_create(&info), "info");
    must(MPI_Info_set(info, "cb_buffer_size", sizes[0]), "info_set");
    MPI_File file = begin_with("hints", MPI_MODE_RDWR, info);
    ask(file, value);
    must(MPI_Info_set(info, "cb_buffer_size", sizes[1]), "info_set");
    must(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info), "view");
    ask(file, value);
    must(MPI_Info_set(info, "cb_buffer_size", sizes[2]), "info_set");
    must(MPI_File_set_info(file, info), "set_info");
    ask(file, value);
    if (rank == 0) printf("%s\n", value);
    MPI_Info_free(&info);
    end(file);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    // What the hook asks by itself must not fail.
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    append();
    past_the_end();
    hints();
    MPI_Finalize();
    return 0;
}
