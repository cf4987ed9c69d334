// SPDX-License-Identifier: Apache-2.0
// Opens files together, writes, and tells what hints are in force.
//   mpiio_hints_in_force FILE plain|own|one_rank|exclusive|missing|alone|handler HINT...
// Known plans are held against what rank 0 prints: "HINT VALUE", and that the rest is as it was.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, bad, handled;

static void must(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    bad = 1;
}

static void handle(MPI_File* file, int* error, ...) {
    (void)file;
    (void)error;
    ++handled;
}

static void tell(MPI_File file, int count, char** hints) {
    MPI_Info info;
    must(MPI_File_get_info(file, &info) == MPI_SUCCESS, "no hints can be asked");
    for (int k = 0; k < count; ++k) {
        char value[MPI_MAX_INFO_VAL + 1];
        int there = 0;
        MPI_Info_get(info, hints[k], MPI_MAX_INFO_VAL, value, &there);
        if (rank == 0) printf("%s %s\n", hints[k], there ? value : "none");
    }
    MPI_Info_free(&info);
}

/// Each rank its part, collectively, and read back.
static void use(MPI_File file) {
    enum { count = 1000 };
    int data[count];
    const MPI_Offset at = (MPI_Offset)rank * sizeof data;
    for (int k = 0; k < count; ++k) data[k] = rank * count + k;
    must(MPI_File_write_at_all(file, at, data, count, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "it cannot be written");
    memset(data, 0, sizeof data);
    must(MPI_File_read_at_all(file, at, data, count, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "it cannot be read");
    for (int k = 0; k < count; ++k) must(data[k] == rank * count + k, "the content is wrong");
}

/// Fails with the program's handler called once, and the handler is the program's afterwards.
static void missing(MPI_Info info) {
    MPI_File file;
    MPI_Errhandler own, now;
    MPI_File_create_errhandler(handle, &own);
    MPI_File_set_errhandler(MPI_FILE_NULL, own);
    const int error = MPI_File_open(MPI_COMM_WORLD, "missing.dat", MPI_MODE_RDONLY, info, &file);
    must(error != MPI_SUCCESS, "a missing file was opened");
    must(handled == 1, "the handler was not called once");
    MPI_File_get_errhandler(MPI_FILE_NULL, &now);
    must(now == own, "the handler is another one");
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&own);
}

/// A file hears of errors by the handler that there was for files when it was opened.
static void handler(const char* name, MPI_Info info) {
    MPI_File file;
    MPI_Errhandler own;
    int value = rank;
    MPI_File_create_errhandler(handle, &own);
    MPI_File_set_errhandler(MPI_FILE_NULL, own);
    const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    must(MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file) == MPI_SUCCESS, "not created");
    MPI_File_close(&file);
    must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file) == MPI_SUCCESS,
         "not opened");
    must(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS,
         "what is only read was written");
    must(handled == 1, "the handler was not called once");
    MPI_File_close(&file);
    MPI_Errhandler_free(&own);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* what = argv[2];
    MPI_Info info = MPI_INFO_NULL;
    const int on_one = strcmp(what, "one_rank") == 0;
    const int own_keys = !on_one || rank == 1;
    if (strcmp(what, "own") == 0 || on_one) {
        MPI_Info_create(&info);
        // One that differs between ranks has to be one that ROMIO does not ask all of them for.
        if (on_one && own_keys) MPI_Info_set(info, "access_style", "sequential");
        if (!on_one) MPI_Info_set(info, "romio_ds_read", "disable");
    }
    MPI_File file;
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    if (strcmp(what, "exclusive") == 0) mode |= MPI_MODE_EXCL;
    if (strcmp(what, "missing") == 0) {
        missing(info);
    } else if (strcmp(what, "handler") == 0) {
        handler(argv[1], info);
    } else {
        const int error = MPI_File_open(MPI_COMM_WORLD, argv[1], mode, info, &file);
        must(error == MPI_SUCCESS, "the file was not opened");
        if (error == MPI_SUCCESS) {
            tell(file, argc - 3, argv + 3);
            use(file);
            MPI_File_close(&file);
        }
        if (strcmp(what, "alone") == 0 && rank == 2) {
            must(MPI_File_open(MPI_COMM_SELF, "alone.dat", mode, info, &file) == MPI_SUCCESS,
                 "a file of its own was not opened");
            MPI_File_close(&file);
        }
    }
    if (info != MPI_INFO_NULL) {
        int keys = 0;
        MPI_Info_get_nkeys(info, &keys);
        must(keys == own_keys, "the program's own info was changed");
        MPI_Info_free(&info);
    }
    int any = 0;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) puts(any ? "wrong" : "right");
    MPI_Finalize();
    return any;
}
