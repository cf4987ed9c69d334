// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/abandon.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "comm/mpi_end.hpp"
#include "formats/hdf5/open.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::hdf5 {

namespace {

/// What the driver of a file opened, and a descriptor of a memory file; nothing if there is none.
std::pair<void*, int> handle_and_memory(const h5::Id& file) noexcept {
    void* handle = nullptr;
    if (!file || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0) return {nullptr, -1};
    const int memory = handle == nullptr ? -1 : ::memfd_create("tailrace-abandoned", MFD_CLOEXEC);
    return {memory < 0 ? nullptr : handle, memory};
}

std::atomic<bool> lost_one = false;

}  // namespace

void begin() {
    const Turn turn;
    h5::check(H5open(), "H5open", "HDF5", core::Code::internal);
}

void before_end() {
    if (!lost_one) return;
    static const comm::AtMpiEnd quiet([] { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); });
}

int redirect_plain_to_memory(const h5::Id& file) noexcept {
    lost_one = true;
    const auto [handle, memory] = handle_and_memory(file);
    if (handle == nullptr) return -1;
    const int real = ::fcntl(*static_cast<int*>(handle), F_DUPFD_CLOEXEC, 0);
    ::dup3(memory, *static_cast<int*>(handle), O_CLOEXEC);
    ::close(memory);
    return real;
}

void try_to_close(const h5::Id& file, const std::string& name) {
    h5::check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "H5Fflush", name);
    void* handle = nullptr;
    h5::check(H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle), "H5Fget_vfd_handle", name);
    const int second = ::fcntl(*static_cast<int*>(handle), F_DUPFD_CLOEXEC, 0);
    if (second >= 0 && ::close(second) != 0)
        throw core::Error(core::code_of_errno(errno),
                          "close failed, data may be lost: " + core::describe_errno(errno), name);
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
