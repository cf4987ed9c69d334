// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/abandon.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace tailrace::formats::hdf5 {

void redirect_to_memory(const h5::Id& file) noexcept {
    if (!file) return;
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0 || handle == nullptr) return;
    const int memory = ::memfd_create("tailrace-abandoned", MFD_CLOEXEC);
    if (memory < 0) return;
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
