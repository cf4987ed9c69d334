/* SPDX-License-Identifier: Apache-2.0 */
/* One epoch of a training's reader, by MPI-IO: 32 samples from each of 1,024 files, shuffled, and
 * every sample opens its file. Ranks take turns; rank 0 writes the mean sample. */
#include <stdint.h>

#include "common.h"

enum { SAMPLES = 32, BYTES = 4096 };

static void name_of(const struct Options* options, long long number, char* name, size_t bytes) {
    snprintf(name, bytes, "%s_%05lld.bin", options->input, number);
}

static void make(const struct Options* options, long long files) {
    static unsigned char samples[SAMPLES * BYTES];
    for (long long number = 0; number < files; ++number) {
        char name[4096];
        for (int at = 0; at < SAMPLES * BYTES; ++at)
            samples[at] = (unsigned char)((at * 7 + number) % 251);
        name_of(options, number, name, sizeof name);
        FILE* file = fopen(name, "wb");
        need(file && fwrite(samples, 1, sizeof samples, file) == sizeof samples, name);
        need(fclose(file) == 0, name);
    }
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "sample", "mean.bin");
    const long long files = scaled(&options, 1024, 2), all = files * SAMPLES;
    if (options.make_input) {
        if (rank == 0) make(&options, files);
        MPI_Finalize();
        return 0;
    }

    long long* order = malloc(sizeof *order * (size_t)all);
    need(order != NULL, "malloc");
    uint64_t state = 1;
    for (long long at = 0; at < all; ++at) { /* an inside-out shuffle, the same on all ranks */
        state = state * 6364136223846793005u + 1442695040888963407u;
        const long long other = (long long)((state >> 33) % (uint64_t)(at + 1));
        order[at] = order[other];
        order[other] = at;
    }
    static double sum[BYTES], total[BYTES];
    for (long long at = rank; at < all; at += ranks) {
        unsigned char sample[BYTES];
        char name[4096];
        MPI_File file;
        name_of(&options, order[at] / SAMPLES, name, sizeof name);
        need(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
                 MPI_SUCCESS,
             name);
        need(MPI_File_read_at(file, order[at] % SAMPLES * BYTES, sample, BYTES, MPI_BYTE,
                              MPI_STATUS_IGNORE) == MPI_SUCCESS,
             "MPI_File_read_at");
        need(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
        for (int byte = 0; byte < BYTES; ++byte) sum[byte] += sample[byte];
    }
    free(order);
    MPI_Reduce(sum, total, BYTES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        FILE* file = fopen(options.output, "wb");
        need(file && fwrite(total, sizeof *total, BYTES, file) == BYTES, options.output);
        need(fclose(file) == 0, options.output);
    }
    MPI_Finalize();
    return 0;
}
