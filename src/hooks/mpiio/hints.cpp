// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/hints.hpp"

#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks::mpiio {
namespace {

constinit Real<int(Wide, int*)> get_key_count{"PMPI_Info_get_nkeys"};
constinit Real<int(Wide, int, char*)> get_key{"PMPI_Info_get_nthkey"};
constinit Real<int(Wide, const char*, int, char*, int*)> get_value{"PMPI_Info_get"};
constinit Real<int(Wide*)> free_info{"PMPI_Info_free"};
constinit Real<int(File, Wide*)> get_file_info{"PMPI_File_get_info"};

}  // namespace

Hints::~Hints() {
    for (unsigned number = 0; number < x_count; ++number) {
        free(const_cast<char*>(x_all[number].key));
        free(const_cast<char*>(x_all[number].value));
    }
}

void Hints::add(Wide info, bool in_force) {
    int keys = 0;
    if (get_key_count(info, &keys) != success) return;
    for (int number = 0; number < keys && x_count < most; ++number) {
        char key[room_for_key] = {};
        char value[room_for_value] = {};
        int found = 0;
        if (get_key(info, number, key) != success) continue;
        if (get_value(info, key, static_cast<int>(abi().most_value), value, &found) != success)
            continue;
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

void Hints::add_given(Wide info) {
    if (!is_null(info)) add(info, false);
}

void Hints::add_in_force(File file) {
    Wide info{};
    if (get_file_info(file, &info) != success || is_null(info)) return;
    add(info, true);
    free_info(&info);
}

}  // namespace tailrace::hooks::mpiio
