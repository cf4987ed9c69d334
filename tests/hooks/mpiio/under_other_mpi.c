// SPDX-License-Identifier: Apache-2.0
// Ends with 0 if each call arrives in its MPI (other_mpi.c) as it was made.
#include <stdint.h>

int MPI_File_open(uint64_t communicator, const char* name, int mode, uint64_t info, void** file);
int MPI_File_write(void* file, const void* data, int count, uint64_t type, void* status);
int MPI_File_close(void** file);

int main(void) {
    const uint64_t handle = 0xfedcba9876543210u;
    void* file = 0;
    uint64_t data = 0;
    return MPI_File_open(handle, "other.dat", 3, ~handle, &file) ||
           MPI_File_write(file, &data, 8, handle, 0) || MPI_File_close(&file);
}
