/* SPDX-License-Identifier: Apache-2.0
 * Somebody else's fault injector, as it is preloaded below programs: every write to a file whose
 * name ends in .victim transfers half of what was asked once, and then fails with EDQUOT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int calls;

static int is_victim(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 7 && memcmp(path + length - 7, ".victim", 7) == 0;
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
    ssize_t (*real)(int, const void*, size_t, off_t);
    *(void**)&real = dlsym(RTLD_NEXT, "pwrite");
    if (!is_victim(fd)) return real(fd, data, bytes, offset);
    if (calls++ == 0) return real(fd, data, bytes / 2, offset);
    errno = EDQUOT;
    return -1;
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t offset) {
    return pwrite(fd, data, bytes, offset);
}
