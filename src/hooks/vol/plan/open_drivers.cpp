// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan/open_drivers.hpp"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "hooks/vol/objects/linked.hpp"
#include "hooks/vol/objects/object.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

OpenDriver* open_driver_of(const Library& library, const char* path) {
    struct stat status {};
    if (library.open_drivers == nullptr || stat(path, &status) != 0) return nullptr;
    for (OpenDriver* at = library.open_drivers; at != nullptr; at = at->next)
        if (at->inode == status.st_ino && at->device == status.st_dev) return at;
    return nullptr;
}

OpenDriver* use_driver(Library& library, const char* path, bool in_memory) {
    OpenDriver* there = open_driver_of(library, path);
    if (there != nullptr) {
        ++there->uses;
        return there;
    }
    struct stat status {};
    if (stat(path, &status) != 0) return nullptr;
    auto* made = static_cast<OpenDriver*>(calloc(1, sizeof(OpenDriver)));
    if (made == nullptr) return nullptr;
    made->library = &library;
    made->device = status.st_dev;
    made->inode = status.st_ino;
    made->bytes = in_memory ? static_cast<uint64_t>(status.st_size) : 0;
    made->in_memory = in_memory;
    made->uses = 1;
    put_in(library.open_drivers, *made);
    library.core_bytes += made->bytes;
    return made;
}

void release_driver(OpenDriver* driver) {
    if (driver == nullptr || --driver->uses > 0) return;
    take_out(*driver);
    driver->library->core_bytes -= driver->bytes;
    free(driver);
}

bool is_open_here(const char* path) {
    struct stat file {};
    if (stat(path, &file) != 0) return false;
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return true;  // it cannot be told
    bool found = false;
    for (const dirent* at = readdir(folder); at != nullptr && !found; at = readdir(folder)) {
        struct stat one {};
        found = at->d_name[0] != '.' && fstat(atoi(at->d_name), &one) == 0 &&
                one.st_ino == file.st_ino && one.st_dev == file.st_dev;
    }
    closedir(folder);
    return found;
}

uint64_t bytes_of_file(const char* path) {
    struct stat status {};
    return stat(path, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool put_core(const Library& library, Id list, size_t increment, bool store) {
    return library.H5Pset_fapl_core(list, increment, store) >= 0;
}

bool put_direct(const Library& library, Id list) {
    using SetDirect = Status (*)(Id, size_t, size_t, size_t);
    const auto set = reinterpret_cast<SetDirect>(dlsym(library.handle, "H5Pset_fapl_direct"));
    return set != nullptr && set(list, 4096, 4096, size_t{16} << 20) >= 0;
}

void give_back_driver(const Library& library, Id list) {
    const Quiet quiet(library);  // that the usual driver has no information is an error
    const Id usual = library.default_file_access;
    library.H5Pset_driver(list, library.H5Pget_driver(usual), library.H5Pget_driver_info(usual));
}

Status descriptor_of(const Object& file, void** handle) {
    const Library& of = file.library();
    const Id list = of.H5Pcopy(of.default_file_access);
    const bool wanted = true;
    FileHandle asked{list, handle};
    Optional question{native_file_handle, &asked};
    // HDF5's own word for it, by which it truncates such files.
    Status status = list >= 0 ? of.H5Pset(list, "want_posix_fd", &wanted) : -1;
    if (status >= 0)
        status = of.H5VLfile_optional(file.inner, file.connector(), &question, of.default_transfer,
                                      nullptr);
    const ErrorsKept kept(of);
    if (list >= 0) of.H5Pclose(list);
    return status;
}

}  // namespace tailrace::hooks::vol
