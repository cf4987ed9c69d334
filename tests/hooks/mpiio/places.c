// SPDX-License-Identifier: Apache-2.0
// Files through which the ranks go in known ways, by MPI-IO alone.   mpiio_places FOLDER
// `input` of 32 KiB is there before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { piece = 4096, pieces = 8 };

static int rank, ranks;
static char folder[4096], data[piece * pieces];

static void must(int error, const char* what) {
    if (error == MPI_SUCCESS) return;
    fprintf(stderr, "rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File begin(const char* name) {
    char path[8192];
    MPI_File file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         "open");
    return file;
}

static void end(MPI_File file) { must(MPI_File_close(&file), "close"); }

static void write_at(MPI_File file, MPI_Offset at, int bytes) {
    must(MPI_File_write_at(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
}

// A block of each rank, from its begin to its end; through the file pointer, in a view of doubles.
static void blocks(void) {
    MPI_File file = begin("blocks");
    const MPI_Offset mine = (MPI_Offset)rank * pieces * piece;
    must(MPI_File_set_view(file, 512, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL), "view");
    must(MPI_File_seek(file, mine / 8, MPI_SEEK_SET), "seek");
    for (int n = 0; n < pieces; ++n)
        must(MPI_File_write(file, data, piece / 8, MPI_DOUBLE, MPI_STATUS_IGNORE), "write");
    end(file);
}

// Pieces of all ranks by turns; and the same in a random order within the block of a rank.
static void turns_and_random(void) {
    static const int order[pieces] = {5, 0, 7, 3, 1, 6, 2, 4};
    MPI_File file = begin("turns"), other = begin("random");
    for (int n = 0; n < pieces; ++n) {
        write_at(file, (MPI_Offset)(n * ranks + rank) * piece, piece);
        write_at(other, (MPI_Offset)(rank * pieces + order[n]) * piece, piece);
    }
    end(file);
    end(other);
}

// The columns of a rank: all at once, and by the row.
static void columns(const char* name, int at_once) {
    MPI_Datatype column;
    must(MPI_Type_vector(pieces, piece, ranks * piece, MPI_BYTE, &column), "vector");
    must(MPI_Type_commit(&column), "commit");
    MPI_File file = begin(name);
    const MPI_Offset from = (MPI_Offset)rank * piece;
    must(MPI_File_set_view(file, from, MPI_BYTE, column, "native", MPI_INFO_NULL), "view");
    if (at_once)
        must(MPI_File_write_all(file, data, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    for (int n = 0; n < pieces && !at_once; ++n)
        must(MPI_File_write_at(file, (MPI_Offset)n * piece, data, piece, MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "write");
    end(file);
    MPI_Type_free(&column);
}

// Pieces of an unstructured mesh.
static void mesh(void) {
    int lengths[pieces], places[pieces];
    for (int n = 0; n < pieces; ++n) {
        lengths[n] = 64;
        places[n] = (n * (n + 1) * ranks + rank) * 64;
    }
    MPI_Datatype indexed;
    must(MPI_Type_indexed(pieces, lengths, places, MPI_BYTE, &indexed), "indexed");
    must(MPI_Type_commit(&indexed), "commit");
    MPI_File file = begin("mesh");
    must(MPI_File_set_view(file, 0, MPI_BYTE, indexed, "native", MPI_INFO_NULL), "view");
    must(MPI_File_write_all(file, data, pieces * 64, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    end(file);
    MPI_Type_free(&indexed);
}

// All ranks read all of it; and write by the shared pointer, who knows where.
static void all_and_anywhere(void) {
    MPI_File file = begin("input"), other = begin("log");
    must(MPI_File_read_at_all(file, 0, data, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    must(MPI_File_write_shared(other, data, 100, MPI_BYTE, MPI_STATUS_IGNORE), "write_shared");
    end(file);
    end(other);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    blocks();
    turns_and_random();
    columns("columns", 1);
    columns("column_rows", 0);
    mesh();
    all_and_anywhere();
    MPI_Finalize();
    return 0;
}
