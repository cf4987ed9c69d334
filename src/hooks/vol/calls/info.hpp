// SPDX-License-Identifier: Apache-2.0
// The connector's information in a file access list: which connector is below.
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

void* copy_info(const void* info);
Status compare_info(int* order, const void* one, const void* other);
Status free_info(void* info);
Status info_to_text(const void* info, char** text);
/// "under_vol=<value>;under_info={<its own text>}". What cannot be read means HDF5's own connector.
Status info_from_text(Library& library, const char* text, void** info);

/// Whether a file access list says which connector is below us.
bool has_info(Library& library, Id access);

/// A copy of a file access list in which the connector below stands in our place.
class BelowList {
public:
    BelowList(Library& library, Id access);
    ~BelowList();
    BelowList(const BelowList&) = delete;
    BelowList& operator=(const BelowList&) = delete;

    [[nodiscard]] bool good() const { return x_list >= 0; }
    [[nodiscard]] Id list() const { return x_list; }
    [[nodiscard]] Id connector() const { return x_connector; }

private:
    Library& x_library;
    Info* x_info = nullptr;
    Id x_connector = invalid_id;
    Id x_native = invalid_id;
    Id x_list = invalid_id;
};

}  // namespace tailrace::hooks::vol
