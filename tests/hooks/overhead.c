/* SPDX-License-Identifier: Apache-2.0
 * Nanoseconds per pwrite: overhead FILE BYTES CALLS. Run it with and without the preloaded library
 * (overhead.py does, in turns). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    size_t bytes = strtoul(argv[2], NULL, 10);
    long calls = atol(argv[3]);
    int fd = open(argv[1], O_CREAT | O_RDWR, 0600);
    char* data = calloc(1, bytes);
    for (long call = 0; call < 1000; ++call)
        if (pwrite(fd, data, bytes, 0) < 0) return 1;
    double begin = now_ns();
    for (long call = 0; call < calls; ++call)
        if (pwrite(fd, data, bytes, 0) < 0) return 1;
    printf("%.1f\n", (now_ns() - begin) / (double)calls);
    free(data);
    close(fd);
    return unlink(argv[1]) != 0;
}
