// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/subfiles.hpp"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tailrace::hooks::vol {
namespace {

uint64_t number_at(const unsigned char* bytes) {
    uint64_t number = 0;
    memcpy(&number, bytes, sizeof number);  // HDF5 writes the lowest byte first, as we have it
    return number;
}

/// The file itself holds no more than the superblock and what rank 0 wrote besides: what the driver
/// says of itself, to which that points, is there too or only in a subfile.
bool is_of_subfiles(int file) {
    static constexpr unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char block[64] = {};
    const ssize_t bytes = pread(file, block, sizeof block, 0);
    if (bytes < 48 || memcmp(block, signature, sizeof signature) != 0) return false;
    // HDF5 file format. Superblock version 2 and 3: signature, version, sizes, flags, addresses of
    // the base and of the extension, a header with messages. Version 0, the default of HDF5 1.14,
    // and 1: four addresses, the last one that of the driver's own block.
    const unsigned version = block[8];
    const bool has_messages = version >= 2;
    if (block[has_messages ? 9 : 13] != 8) return false;
    const uint64_t place = number_at(block + (has_messages ? 20 : version == 1 ? 52 : 48));
    if (place >= uint64_t{1} << 62) return false;
    char said[256] = {};
    if (pread(file, said, sizeof said, static_cast<off_t>(place)) < 0) return false;
    if (memmem(said, sizeof said, "Subfilin", 8) != nullptr) return true;
    static constexpr char nothing[16] = {};
    return has_messages ? memcmp(said, "OHDR", 4) != 0 : memcmp(said, nothing, sizeof nothing) == 0;
}

/// Where HDF5 writes which subfiles there are.
bool has_table(const char* path, uint64_t inode) {
    const char* slash = strrchr(path, '/');
    const char* name = slash != nullptr ? slash + 1 : path;
    const char* folder = getenv("H5FD_SUBFILING_CONFIG_FILE_PREFIX");  // NOLINT: only read
    char* table = nullptr;
    const int length =
        folder != nullptr
            ? asprintf(&table, "%s/%s.subfile_%" PRIu64 ".config", folder, name, inode)
            : asprintf(&table, "%s.subfile_%" PRIu64 ".config", path, inode);
    if (length < 0) return false;
    const bool there = access(table, F_OK) == 0;
    free(table);
    return there;
}

}  // namespace

bool has_subfiles(const char* path) {
    struct stat status {};
    if (stat(path, &status) != 0 || !has_table(path, status.st_ino)) return false;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool found = is_of_subfiles(file);
    ::close(file);
    return found;
}

bool has_threads(const Library& library) {
    constexpr int multiple = 3;  // MPI_THREAD_MULTIPLE, of all MPIs
    int (*begun)(int*) = nullptr;
    int (*query)(int*) = nullptr;
    int level = 0;
    int is_begun = 0;
    // With HDF5_DRIVER=mpio HDF5 itself may start it, later.
    return look_up(library.handle, "MPI_Initialized", begun) && begun(&is_begun) == 0 &&
           is_begun != 0 && look_up(library.handle, "MPI_Query_thread", query) &&
           query(&level) == 0 && level == multiple;
}

bool put_subfiles(const Library& library, Id access, uint64_t stripe_bytes) {
    Status (*ask)(Id, SubfilingConfig*) = nullptr;
    Status (*set)(Id, const SubfilingConfig*) = nullptr;
    if (!look_up(library.handle, "H5Pget_fapl_subfiling", ask) ||
        !look_up(library.handle, "H5Pset_fapl_subfiling", set))
        return false;
    SubfilingConfig config{};
    if (ask(access, &config) < 0) return false;
    if (stripe_bytes != 0) config.shared.stripe_bytes = static_cast<int64_t>(stripe_bytes);
    const bool good = config.version == subfiling_version && set(access, &config) >= 0;
    if (config.concentrator_access > 0) library.H5Pclose(config.concentrator_access);
    return good;
}

}  // namespace tailrace::hooks::vol
