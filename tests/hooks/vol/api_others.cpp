// SPDX-License-Identifier: Apache-2.0
// Event sets, objects in several files at once, and calls that fail.
#include "api.hpp"

namespace api {
namespace {

int heard = 0;

herr_t hear(void* /*data*/) {
    ++heard;
    return 0;
}

}  // namespace

void others() {
    const hid_t events = id("H5EScreate", H5EScreate());
    const hid_t file =
        id("H5Fcreate_async",
           H5Fcreate_async("async.h5", H5F_ACC_TRUNC, context.creation, context.access, events));
    const hid_t list = dataset_list();
    const hid_t four = space({4});
    const int values[4] = {4, 3, 2, 1};
    const hid_t dataset =
        id("H5Dcreate_async",
           H5Dcreate_async(file, "d", H5T_STD_I32LE, four, H5P_DEFAULT, list, H5P_DEFAULT, events));
    line{"H5Dwrite_async", H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL,
                                          context.transfer, values, events)};
    int got[4] = {};
    line{"H5Dread_async",
         H5Dread_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, got, events),
         hash(got, sizeof got)};
    line{"H5Dclose_async", H5Dclose_async(dataset, events)};
    line{"H5Fclose_async", H5Fclose_async(file, events)};
    size_t running = 1;
    hbool_t failed = true;
    line{"H5ESwait", H5ESwait(events, H5ES_WAIT_FOREVER, &running, &failed), running, failed};
    line{"H5ESclose", H5ESclose(events)};

    // Through an external link into another file, and a copy between files.
    const hid_t from = H5Fcreate("from.h5", H5F_ACC_TRUNC, context.creation, context.access);
    const hid_t access = H5Pcreate(H5P_LINK_ACCESS);
    H5Pset_elink_fapl(access, context.access);
    line{"H5Lcreate_external",
         H5Lcreate_external("async.h5", "/d", from, "far", H5P_DEFAULT, H5P_DEFAULT)};
    const hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_elink_fapl(dapl, context.access);
    const hid_t far = id("through an external link", H5Dopen2(from, "far", dapl));
    line{"H5Dread", H5Dread(far, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, got),
         hash(got, sizeof got)};
    char name[4096] = {};
    line{"H5Fget_name", H5Fget_name(far, name, sizeof name) > 0};
    text("its file", std::string(name).substr(std::string(name).rfind('/') + 1));
    line{"H5Ocopy to another file", H5Ocopy(far, ".", from, "near", H5P_DEFAULT, H5P_DEFAULT)};
    line{"H5Dclose", H5Dclose(far)};
    for (const hid_t of : {access, dapl, list}) H5Pclose(of);
    H5Sclose(four);
    line{"H5Fclose", H5Fclose(from)};

    // Closed with something open: the file stays until that is closed too.
    const hid_t kept = H5Fopen("async.h5", H5F_ACC_RDONLY, context.access);
    const hid_t open = H5Dopen2(kept, "d", H5P_DEFAULT);
    line{"H5Fclose first", H5Fclose(kept)};
    line{"H5Dread after", H5Dread(open, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, got),
         hash(got, sizeof got)};
    line{"H5Dclose then", H5Dclose(open)};
}

void errors() {
    id("no such file", H5Fopen("not there.h5", H5F_ACC_RDONLY, context.access));
    const hid_t file = H5Fcreate("errors.h5", H5F_ACC_TRUNC, context.creation, context.access);
    id("it is there already",
       H5Fcreate("errors.h5", H5F_ACC_EXCL, context.creation, context.access));
    id("no such group", H5Gopen2(file, "nowhere", H5P_DEFAULT));
    id("no such dataset", H5Dopen2(file, "nowhere", H5P_DEFAULT));
    id("no such type", H5Topen2(file, "nowhere", H5P_DEFAULT));
    id("no such object", H5Oopen(file, "nowhere", H5P_DEFAULT));
    id("no such attribute", H5Aopen(file, "nowhere", H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, group_list(), H5P_DEFAULT));
    id("twice", H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    id("a group is no dataset", H5Dopen2(file, "g", H5P_DEFAULT));
    const hid_t four = space({4});
    const hid_t five = space({5});
    const hid_t list = dataset_list();
    const hid_t dataset =
        H5Dcreate2(file, "d", H5T_STD_I32LE, four, H5P_DEFAULT, list, H5P_DEFAULT);
    int values[5] = {};
    line{"spaces that differ", H5Dwrite(dataset, H5T_NATIVE_INT, five, four, H5P_DEFAULT, values)};
    text("why", last_error());
    line{"types that differ", H5Dwrite(dataset, H5T_C_S1, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)};
    text("why", last_error());
    const hsize_t more[1] = {9};
    line{"it cannot grow", H5Dset_extent(dataset, more)};
    text("why", last_error());
    line{"no such link", H5Ldelete(file, "nowhere", H5P_DEFAULT)};
    text("why", last_error());
    line{"no such link", H5Lmove(file, "nowhere", file, "there", H5P_DEFAULT, H5P_DEFAULT)};
    text("why", last_error());
    line{"no such file", H5Fdelete("not there.h5", context.access)};
    text("why", last_error());
    line{"H5Dclose", H5Dclose(dataset), H5Dclose(dataset)};
    H5Sclose(four);
    H5Sclose(five);
    H5Pclose(list);
    line{"H5Fclose", H5Fclose(file)};
    line{"after that it is well", H5Fis_accessible("errors.h5", context.access)};
}

/// A handler of the first interface hears of what fails, and of nothing else. Under a connector it
/// hears of that more than once, which HDF5 makes so.
void older_handlers() {
    H5Eset_auto1(hear, nullptr);
    const hid_t file = H5Fcreate("heard.h5", H5F_ACC_TRUNC, context.creation, context.access);
    const hid_t four = space({4});
    const hid_t list = dataset_list();
    const hid_t dataset =
        H5Dcreate2(file, "d", H5T_STD_I32BE, four, H5P_DEFAULT, list, H5P_DEFAULT);
    int values[4] = {1, 2, 3, 4};
    line{"H5Dwrite", H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)};
    line{"H5Dclose", H5Dclose(dataset), H5Dclose(H5Dopen2(file, "d", H5P_DEFAULT))};
    line{"nothing is heard", heard};
    line{"no such dataset", H5Dopen2(file, "nowhere", H5P_DEFAULT) < 0, heard > 0};
    heard = 0;
    H5E_auto1_t function = nullptr;
    void* data = nullptr;
    line{"H5Eget_auto1", H5Eget_auto1(&function, &data), function == hear};
    line{"H5Fclose", H5Fclose(file)};
    H5Sclose(four);
    H5Pclose(list);
    line{"nothing more is heard", heard};
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace api
