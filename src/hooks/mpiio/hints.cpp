// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/hints.hpp"

#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks::mpiio {
namespace {

constinit Real<int(MPI_Info, int*)> get_key_count{"PMPI_Info_get_nkeys"};
constinit Real<int(MPI_Info, int, char*)> get_key{"PMPI_Info_get_nthkey"};
constinit Real<int(MPI_Info, const char*, int, char*, int*)> get_value{"PMPI_Info_get"};
constinit Real<int(MPI_Info*)> free_info{"PMPI_Info_free"};
constinit Real<int(MPI_File, MPI_Info*)> get_file_info{"PMPI_File_get_info"};

}  // namespace

Hints::~Hints() {
    for (unsigned number = 0; number < x_count; ++number) {
        free(const_cast<char*>(x_all[number].key));
        free(const_cast<char*>(x_all[number].value));
    }
}

void Hints::add(MPI_Info info, bool in_force) {
    int keys = 0;
    if (get_key_count(info, &keys) != MPI_SUCCESS) return;
    for (int number = 0; number < keys && x_count < most; ++number) {
        char key[MPI_MAX_INFO_KEY + 1] = {};
        char value[MPI_MAX_INFO_VAL + 1] = {};
        int found = 0;
        if (get_key(info, number, key) != MPI_SUCCESS) continue;
        if (get_value(info, key, MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS) continue;
        if (found == 0) continue;
        const Hint hint{strdup(key), strdup(value), in_force};
        if (hint.key == nullptr || hint.value == nullptr) {
            free(const_cast<char*>(hint.key));
            free(const_cast<char*>(hint.value));
            return;
        }
        x_all[x_count++] = hint;
    }
}

void Hints::add_given(MPI_Info info) {
    if (!is_null(info)) add(info, false);
}

void Hints::add_in_force(MPI_File file) {
    MPI_Info info{};
    if (get_file_info(file, &info) != MPI_SUCCESS || is_null(info)) return;
    add(info, true);
    free_info(&info);
}

}  // namespace tailrace::hooks::mpiio
