/* SPDX-License-Identifier: Apache-2.0 */
/* What the C programs of this folder share: their options, and the end where a call fails. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Options {
    const char *input, *output; /* names of files, or of a folder */
    double scale;               /* of the size: 1 is the one that is measured */
    int make_input, by_hand;
};

static void need(int good, const char* what) {
    int rank;
    if (good) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "error: %s failed (rank %d)\n", what, rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct Options options_of(int count, char** words, const char* input, const char* output) {
    struct Options found = {input, output, 1.0, 0, 0};
    for (int word = 1; word < count; ++word) {
        const char* value = word + 1 < count ? words[word + 1] : "";
        if (strcmp(words[word], "--make-input") == 0) {
            found.make_input = 1;
            continue;
        }
        if (strcmp(words[word], "--by-hand") == 0) {
            found.by_hand = 1;
            continue;
        }
        if (strcmp(words[word], "--input") == 0)
            found.input = value;
        else if (strcmp(words[word], "--output") == 0)
            found.output = value;
        else if (strcmp(words[word], "--scale") == 0)
            found.scale = atof(value);
        else
            need(0, words[word]);
        ++word;
    }
    need(found.scale > 0, "--scale above 0");
    return found;
}

/* `count` times the scale, at least `least`. */
static long long scaled(const struct Options* options, double count, long long least) {
    const long long wanted = (long long)(count * options->scale + 0.5);
    return wanted < least ? least : wanted;
}
