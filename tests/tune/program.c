/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a plan makes faster.
 *   tune_program FILE         rows of a compressed chunk that is larger than the chunk cache
 *   tune_program FILE wider   the same, and then rows of a chunk that is twice as large
 *   tune_program FILE read    reads them so, and writes and prints nothing
 *   tune_program FILE columns reads columns, one after the other, and writes and prints nothing
 *   tune_program FILE ranks   ranks that write rows of one dataset in turns, each by itself
 *   tune_program FILE waits   the same, but each rank begins when the one before has written all of
 *                             its rows: collective transfers wait for each other for ever */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 262144, thrash_rows = 6, shared_rows = 64, shared_columns = 4096 };

/* A row, into memory that is freed at the end of the program. */
static double* row_of(int count, int number) {
    double* values = malloc(sizeof *values * (size_t)count);
    for (int i = 0; i < count; ++i) values[i] = (double)((i * (number + 1)) % 17);
    return values;
}

static int write_row(hid_t dataset, hsize_t row, hsize_t count, const double* values) {
    const hsize_t start[2] = {row, 0}, block[2] = {1, count};
    hid_t there = H5Dget_space(dataset);
    hid_t here = H5Screate_simple(2, block, NULL);
    H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, block, NULL);
    const int status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values) < 0;
    H5Sclose(here);
    H5Sclose(there);
    return status;
}

/* A dataset of one chunk, a row at a time. */
static int write_rows(hid_t file, const char* path, int rows, int count) {
    const hsize_t extents[2] = {(hsize_t)rows, (hsize_t)count};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, extents);
    H5Pset_deflate(list, 1);
    hid_t space = H5Screate_simple(2, extents, NULL);
    hid_t dataset =
        H5Dcreate2(file, path, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int failed = dataset < 0;
    for (int row = 0; row < rows && !failed; ++row) {
        double* values = row_of(count, row);
        failed = write_row(dataset, (hsize_t)row, (hsize_t)count, values);
        free(values);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(list);
    return failed;
}

static int thrash(const char* name, int with_wider) {
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    int failed = file < 0 || write_rows(file, "rows", thrash_rows, columns);
    if (with_wider) failed = failed || write_rows(file, "wider", thrash_rows, 2 * columns);
    failed = failed || H5Fclose(file) < 0;
    printf("%d rows\n", thrash_rows);
    return failed;
}

/* Reads a dataset of two axes a line at a time: rows (axis 0) or columns (axis 1). */
static int read_lines(const char* name, const char* path, int axis) {
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t there = H5Dget_space(dataset);
    hsize_t extents[2] = {0, 0};
    int failed = dataset < 0 || H5Sget_simple_extent_dims(there, extents, NULL) != 2;
    hsize_t block[2] = {extents[0], extents[1]};
    block[axis] = 1;
    hid_t here = H5Screate_simple(2, block, NULL);
    double* values = row_of((int)(block[0] * block[1]), 0);
    for (hsize_t line = 0; line < extents[axis] && !failed; ++line) {
        hsize_t start[2] = {0, 0};
        start[axis] = line;
        H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, block, NULL);
        failed = H5Dread(dataset, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values) < 0;
    }
    free(values);
    H5Sclose(here);
    H5Sclose(there);
    H5Dclose(dataset);
    return failed || H5Fclose(file) < 0;
}

static void wait_for_rank(int before) {
    if (before >= 0) MPI_Recv(NULL, 0, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void let_rank_begin(int next, int size) {
    if (next < size) MPI_Send(NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD);
}

static int ranks(const char* name, int one_by_one) {
    const hsize_t extents[2] = {shared_rows, shared_columns};
    int rank = 0, size = 1, failed = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, extents, NULL);
    hid_t dataset =
        H5Dcreate2(file, "shared", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (one_by_one) wait_for_rank(rank - 1);
    for (int row = rank; row < shared_rows && !failed; row += size) {
        double* values = row_of(shared_columns, row);
        failed = write_row(dataset, (hsize_t)row, shared_columns, values);
        free(values);
    }
    if (one_by_one) let_rank_begin(rank + 1, size);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(access);
    failed = failed || H5Fclose(file) < 0;
    MPI_Finalize();
    return failed;
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    if (argc == 2) return thrash(argv[1], 0);
    if (strcmp(argv[2], "wider") == 0) return thrash(argv[1], 1);
    if (strcmp(argv[2], "columns") == 0) return read_lines(argv[1], "table", 1);
    if (strcmp(argv[2], "read") == 0) return read_lines(argv[1], "rows", 0);
    return ranks(argv[1], strcmp(argv[2], "waits") == 0);
}
