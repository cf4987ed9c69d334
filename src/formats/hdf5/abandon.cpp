// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/abandon.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace tailrace::formats::hdf5 {

namespace {

/// What the driver of a file opened, and a descriptor of a memory file; nothing if there is none.
std::pair<void*, int> handle_and_memory(const h5::Id& file) noexcept {
    void* handle = nullptr;
    if (!file || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0) return {nullptr, -1};
    const int memory = handle == nullptr ? -1 : ::memfd_create("tailrace-abandoned", MFD_CLOEXEC);
    return {memory < 0 ? nullptr : handle, memory};
}

}  // namespace

void redirect_plain_to_memory(const h5::Id& file) noexcept {
    const auto [handle, memory] = handle_and_memory(file);
    if (handle == nullptr) return;
    ::dup3(memory, *static_cast<int*>(handle), O_CLOEXEC);
    ::close(memory);
}

void redirect_to_memory(const h5::Id& file) noexcept {
    const auto [handle, memory] = handle_and_memory(file);
    if (handle == nullptr) return;
    try {
        const std::string name = "/proc/self/fd/" + std::to_string(memory);
        MPI_File replacement = MPI_FILE_NULL;
        if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL,
                          &replacement) == MPI_SUCCESS)
            *static_cast<MPI_File*>(handle) = replacement;
    } catch (...) {  // no memory for a name: the file is left as it is
    }
    ::close(memory);  // the MPI file has a descriptor of its own
}

}  // namespace tailrace::formats::hdf5
