/* SPDX-License-Identifier: Apache-2.0 */
/* Many small calls of HDF5, timed: `tailrace_bench_calls write|read|storm COUNT FILE`. One process,
 * no MPI. Prints {"count": N, "elapsed_s": S}: of the calls alone for write and read; for storm,
 * COUNT datasets with an attribute each, from the file's creation to its second close, everything.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "bench: error: %s failed\n", what);
    exit(1);
}

/* One element per call, another one each time. */
static double transfers(const char* name, hsize_t count, int writing) {
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &count, NULL), one = H5Screate(H5S_SCALAR);
    hid_t set =
        H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    double begin, end, value = 0;
    hsize_t at;
    need(file >= 0 && set >= 0, "H5Dcreate2");
    begin = now();
    for (at = 0; at < count; ++at) {
        value = (double)at;
        H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
        need((writing ? H5Dwrite(set, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value)
                      : H5Dread(set, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value)) >= 0,
             "a transfer");
    }
    end = now();
    H5Dclose(set);
    H5Sclose(one);
    H5Sclose(space);
    need(H5Fclose(file) >= 0, "H5Fclose");
    return end - begin;
}

static void make(hid_t file, hsize_t number, hid_t space, hid_t scalar) {
    int values[4] = {(int)number, 1, 2, 3};
    char name[32];
    hid_t set, attribute;
    snprintf(name, sizeof name, "d%llu", (unsigned long long)number);
    set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    need(set >= 0, "H5Dcreate2");
    need(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "H5Dwrite");
    attribute = H5Acreate2(set, "a", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Awrite(attribute, H5T_NATIVE_INT, values) >= 0, "H5Awrite");
    H5Aclose(attribute);
    H5Dclose(set);
}

static void look(hid_t file, hsize_t number) {
    int values[4], value = -1;
    char name[32];
    hid_t set, attribute;
    snprintf(name, sizeof name, "d%llu", (unsigned long long)number);
    set = H5Dopen2(file, name, H5P_DEFAULT);
    need(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "H5Dread");
    attribute = H5Aopen(set, "a", H5P_DEFAULT);
    need(H5Aread(attribute, H5T_NATIVE_INT, &value) >= 0, "H5Aread");
    need(value == (int)number && values[0] == value, "what was read");
    H5Aclose(attribute);
    H5Dclose(set);
}

static double storm(const char* name, hsize_t count) {
    hsize_t number, four = 4;
    double begin = now();
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &four, NULL), scalar = H5Screate(H5S_SCALAR);
    for (number = 0; number < count; ++number) make(file, number, space, scalar);
    need(H5Fclose(file) >= 0, "H5Fclose");
    file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (number = 0; number < count; ++number) look(file, number);
    H5Sclose(space);
    H5Sclose(scalar);
    need(H5Fclose(file) >= 0, "H5Fclose");
    return now() - begin;
}

int main(int argc, char** argv) {
    unsigned long long count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    double seconds;
    if (count == 0) {
        fprintf(stderr, "usage: %s write|read|storm COUNT FILE\n", argv[0]);
        return 2;
    }
    if (strcmp(argv[1], "storm") == 0)
        seconds = storm(argv[3], count);
    else
        seconds = transfers(argv[3], count, strcmp(argv[1], "write") == 0);
    printf("{\"count\": %llu, \"elapsed_s\": %.9f}\n", count, seconds);
    return 0;
}
