/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that open a file together; the first N of them declare it durable. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tailrace/intent.h>

int main(int argc, char** argv) {
    int rank = 0;
    H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    int code = 0;
    if (argc > 2 && rank < atoi(argv[1]))
        code = tailrace_intent_set(access, "{\"reliability\": \"durable\"}");
    hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t in_force = H5Fget_access_plist(file);
    H5Pget_mdc_config(in_force, &cache);
    if (rank == 0) printf("declared: %d, evictions: %d\n", code, (int)cache.evictions_enabled);
    H5Pclose(in_force);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return file < 0;
}
