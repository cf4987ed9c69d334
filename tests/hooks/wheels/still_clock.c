// SPDX-License-Identifier: Apache-2.0
// Preloaded: the time of day stands still, so that files with times in them can be held byte by
// byte against each other.
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { then = 1700000000 };

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
    (void)zone;
    now->tv_sec = then;
    now->tv_usec = 0;
    return 0;
}

time_t time(time_t* now) {
    if (now != NULL) *now = then;
    return then;
}
