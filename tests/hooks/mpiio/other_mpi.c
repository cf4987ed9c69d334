// SPDX-License-Identifier: Apache-2.0
// A little of an MPI that nobody knows. Its handles are numbers of 64 bits.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint64_t all = 0xfedcba9876543210u;
#define EXPORT __attribute__((visibility("default")))

EXPORT int PMPI_Get_library_version(char* text, int* length) {
    *length = sprintf(text, "Other MPI 1.0");
    return 0;
}
EXPORT int PMPI_File_open(uint64_t communicator, const char* name, int mode, uint64_t info,
                          void** file) {
    *file = file;
    return communicator == all && info == ~all && mode == 3 && strcmp(name, "other.dat") == 0 ? 0 : 1;
}
EXPORT int MPI_File_open(uint64_t communicator, const char* name, int mode, uint64_t info,
                         void** file) {
    return PMPI_File_open(communicator, name, mode, info, file);
}
EXPORT int MPI_File_write(void* file, const void* data, int count, uint64_t type, void* status) {
    return file != NULL && data != NULL && count == 8 && type == all && status == NULL ? 0 : 1;
}
EXPORT int MPI_File_close(void** file) {
    *file = NULL;
    return 0;
}
