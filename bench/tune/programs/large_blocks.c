/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing to gain: every rank writes one large contiguous block per variable, straight to its place
 * in the file (MPI-IO, explicit offsets, collective, aligned). */
#include "common.h"

int main(int argc, char** argv) {
    const int mine = 8 << 20; /* bytes */
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct Options options = options_of(argc, argv, "", "blocks.bin");
    const long long steps = scaled(&options, 240, 1);

    MPI_File file;
    need(MPI_File_open(MPI_COMM_WORLD, options.output, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                       MPI_INFO_NULL, &file) == MPI_SUCCESS,
         "MPI_File_open");
    double* values = malloc((size_t)mine);
    need(values != NULL, "malloc");
    for (long long step = 0; step < steps; ++step) {
        const MPI_Offset at = (step * ranks + rank) * (MPI_Offset)mine;
        for (int number = 0; number < mine / 8; ++number)
            values[number] = (double)(at / 8 + number) * 0.5;
        need(MPI_File_write_at_all(file, at, values, mine, MPI_BYTE, MPI_STATUS_IGNORE) ==
                 MPI_SUCCESS,
             "MPI_File_write_at_all");
    }
    free(values);
    need(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    MPI_Finalize();
    return 0;
}
