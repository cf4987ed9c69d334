// SPDX-License-Identifier: Apache-2.0
// hints_in_force FILE: rank 0 prints the hints in force of a new file that is opened without any.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, count = 0, there = 0;
    MPI_File file;
    MPI_Info info;
    char name[MPI_MAX_INFO_KEY + 1], value[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2 || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                                   MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return 2;
    MPI_File_get_info(file, &info);
    MPI_Info_get_nkeys(info, &count);
    for (int at = 0; at < count; ++at) {
        MPI_Info_get_nthkey(info, at, name);
        MPI_Info_get(info, name, sizeof value - 1, value, &there);
        if (rank == 0) printf("%s=%s\n", name, value);
    }
    MPI_Info_free(&info);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
