// SPDX-License-Identifier: Apache-2.0
#include "formats/limit/scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "core/cleanup.hpp"
#include "core/io_observer.hpp"

namespace tailrace::formats::limit {

std::filesystem::path scratch_name(const comm::Comm& comm, const std::filesystem::path& beside) {
    std::array<char, 9> bits{};
    if (comm.rank() == 0) std::snprintf(bits.data(), bits.size(), "%08x", std::random_device()());
    std::filesystem::path name = beside;
    name += ".limit." + comm.broadcast(std::string(bits.data()));
    return name;
}

void check_folder(const std::filesystem::path& beside, std::uint64_t bytes) {
    const std::filesystem::path folder = folder_of(beside);
    const Descriptor fd(open_file(folder, O_RDONLY | O_DIRECTORY));
    if (!fd.open()) throw system_error(errno, "cannot open the folder", folder);
    check_space(fd.get(), bytes, beside, core::Code::no_space_reserved);
    if (lies_in_memory(fd.get()))
        check_memory(fd.get(), bytes, beside, core::Code::no_space_reserved);
}

Scratch::Scratch(std::filesystem::path path) : x_path(std::move(path)) {
    x_fd = Descriptor(
        ::open(x_path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!x_fd.open()) throw system_error(errno, "cannot create the file", x_path);
    core::remove_on_interrupt(x_path);
}

Scratch::~Scratch() {
    if (core::IoObserver* observer = core::io_observer()) observer->forget(x_path);
    ::unlink(x_path.c_str());
    core::keep_on_interrupt(x_path);
}

void Scratch::sync() const {
    if (::fsync(x_fd.get()) != 0) throw system_error(errno, "fsync failed", x_path);
}

void Scratch::close() {
    if (::close(x_fd.release()) != 0) throw system_error(errno, "closing the file failed", x_path);
}

}  // namespace tailrace::formats::limit
