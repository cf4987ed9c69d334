// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "api.hpp"

namespace api {

void files() {
    const hid_t file =
        id("H5Fcreate", H5Fcreate("files.h5", H5F_ACC_TRUNC, context.creation, context.access));
    char name[64] = {};
    line{"H5Fget_name", H5Fget_name(file, name, sizeof name)};
    text("its name", name);
    unsigned intent = 0;
    line{"H5Fget_intent", H5Fget_intent(file, &intent), intent};
    unsigned long number = 0;
    line{"H5Fget_fileno", H5Fget_fileno(file, &number)};
    hsize_t bytes = 0;
    line{"H5Fflush local", H5Fflush(file, H5F_SCOPE_LOCAL)};
    line{"H5Fflush global", H5Fflush(file, H5F_SCOPE_GLOBAL)};
    // Other ranks may still be writing to a file of all.
    if (!context.parallel) line{"H5Fget_filesize", H5Fget_filesize(file, &bytes), bytes};
    line{"H5Fget_freespace", H5Fget_freespace(file)};
    H5F_info2_t info{};
    line{"H5Fget_info", H5Fget_info2(file, &info), info.super.super_size};
    const hid_t access = id("H5Fget_access_plist", H5Fget_access_plist(file));
    const hid_t creation = id("H5Fget_create_plist", H5Fget_create_plist(file));
    line{"libver survives", [&] {
             H5F_libver_t low{};
             H5F_libver_t high{};
             H5Pget_libver_bounds(access, &low, &high);
             return static_cast<int>(low) * 100 + static_cast<int>(high);
         }()};
    H5Pclose(access);
    H5Pclose(creation);
    double rate = 0;
    line{"H5Fget_mdc_hit_rate", H5Fget_mdc_hit_rate(file, &rate) < 0 ? -1 : 0};

    const hid_t again = id("H5Freopen", H5Freopen(file));
    line{"H5Fis_accessible is 1", H5Fis_accessible("files.h5", context.access)};
    line{"objects", H5Fget_obj_count(file, H5F_OBJ_ALL), H5Fget_obj_count(file, H5F_OBJ_FILE)};
    const hid_t group = H5Gcreate2(again, "seen by both", H5P_DEFAULT, group_list(), H5P_DEFAULT);
    line{"seen", H5Lexists(file, "seen by both", H5P_DEFAULT)};
    const hid_t owner = id("H5Iget_file_id", H5Iget_file_id(group));
    line{"H5Iget_name of file", H5Iget_name(owner, name, sizeof name)};
    text("its name", name);
    line{"H5Fclose", H5Fclose(owner), H5Fclose(again)};
    hid_t found[1] = {};
    line{"ids", H5Fget_obj_ids(file, H5F_OBJ_GROUP, 1, found)};
    line{"H5Gclose", H5Gclose(group)};
    line{"H5Fclose", H5Fclose(file)};

    const hid_t other = H5Fcreate("child.h5", H5F_ACC_TRUNC, context.creation, context.access);
    H5Gclose(H5Gcreate2(other, "inside", H5P_DEFAULT, group_list(), H5P_DEFAULT));
    line{"H5Fclose", H5Fclose(other)};
    const hid_t parent = id("H5Fopen", H5Fopen("files.h5", H5F_ACC_RDWR, context.access));
    const hid_t child = id("H5Fopen", H5Fopen("child.h5", H5F_ACC_RDWR, context.access));
    const hid_t twice = id("H5Fopen again", H5Fopen("files.h5", H5F_ACC_RDWR, context.access));
    line{"H5Fmount", H5Fmount(parent, "seen by both", child, H5P_DEFAULT)};
    const hid_t mounted =
        id("through the mount", H5Gopen2(parent, "seen by both/inside", H5P_DEFAULT));
    line{"H5Iget_name", H5Iget_name(mounted, name, sizeof name)};
    text("its name", name);
    line{"H5Gclose", H5Gclose(mounted)};
    line{"H5Funmount", H5Funmount(parent, "seen by both")};
    line{"H5Fclose", H5Fclose(twice), H5Fclose(child), H5Fclose(parent)};
    line{"H5Fdelete", H5Fdelete("child.h5", context.access)};
    line{"gone", ::access("child.h5", F_OK)};
    line{"H5Fis_accessible of nothing", H5Fis_accessible("child.h5", context.access)};
    const hid_t reading =
        id("H5Fopen to read", H5Fopen("files.h5", H5F_ACC_RDONLY, context.access));
    id("create in it", H5Gcreate2(reading, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    line{"H5Fclose", H5Fclose(reading)};
}

}  // namespace api
