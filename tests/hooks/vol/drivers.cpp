// SPDX-License-Identifier: Apache-2.0
// Opens a file again and again while it is open, and tells what HDF5 makes of it.
#include <hdf5.h>

#include <cstdio>

namespace {

constexpr const char* name = "d.h5";
int heard = 0;

herr_t hear(hid_t, void*) { return ++heard, 0; }

void tell(const char* call, hid_t made) {
    std::printf("%s: %s\n", call, made < 0 ? "refused" : "made");
    if (made >= 0) H5Fclose(made);
}

void read(const char* call, unsigned flags) {
    int numbers[10] = {};
    const hid_t file = H5Fopen(name, flags, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "x", H5P_DEFAULT);
    H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Eset_auto2(H5E_DEFAULT, hear, nullptr);  // programs end by such a handler
    const hid_t list = H5Fget_access_plist(file);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::printf("%s: %d, its own driver: %d, errors: %d\n", call, numbers[3],
                static_cast<int>(H5Pget_driver(list) == H5FD_SEC2), heard);
    H5Pclose(list);
    H5Dclose(data);
    H5Fclose(file);
}

hid_t create() { return H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

}  // namespace

int main() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    int numbers[10] = {};
    const hsize_t extent = 10;
    const hid_t written = create();
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t data =
        H5Dcreate2(written, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Fflush(written, H5F_SCOPE_GLOBAL);
    numbers[3] = 77;
    H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    read("read while it is written", H5F_ACC_RDONLY);
    read("open to write while it is written", H5F_ACC_RDWR);
    tell("create while it is written", create());
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(written);

    const hid_t only_read = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    read("read while it is read", H5F_ACC_RDONLY);
    tell("open to write while it is read", H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT));
    tell("create while it is read", create());
    H5Fclose(only_read);
    tell("open to write", H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT));
    read("read", H5F_ACC_RDONLY);
}
