// SPDX-License-Identifier: Apache-2.0
// Between processes the memory is a file of the memory file system that has no name any more once
// all have opened it. Not an MPI window: Open MPI 4.1 leaves the other ranks waiting where the
// first one finds no space, the memory of a window is not reserved (a rank that writes it when
// there is none left ends by SIGBUS), and freeing one waits for all ranks.
#include "comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "comm/comm.hpp"
#include "core/checked.hpp"
#include "core/cleanup.hpp"
#include "core/group_memory.hpp"
#include "core/units.hpp"

namespace tailrace::comm {

namespace {

using core::Code;
using core::Error;

constexpr std::uint64_t page = 4096;
constexpr const char* remedy = "share less, or give the node more memory";

Error failed(const std::string& what, int error_number, const std::string& where) {
    const bool no_memory = error_number == ENOSPC || error_number == ENOMEM;
    return {no_memory ? Code::no_space : core::code_of_errno(error_number),
            what + ": " + core::describe_errno(error_number), where, no_memory ? remedy : ""};
}

/// Without a limit of its own the file system gives until the machine has nothing left, and more
/// than a control group allows.
void ask_for(std::uint64_t bytes) {
    const std::uint64_t free = core::memory_free();
    if (bytes > free)
        throw Error(Code::no_space,
                    core::bytes_text(bytes) + " cannot be shared: the machine and its control " +
                        "groups leave " + core::bytes_text(free),
                    "shared memory", remedy);
}

}  // namespace

/// The file of a block: made by the first rank, opened by the others.
class MemoryFile {
public:
    MemoryFile() = default;
    ~MemoryFile() {
        if (x_file >= 0) ::close(x_file);
        unname();
    }
    /// Once all have opened it.
    void unname() {
        if (!std::exchange(x_made, false)) return;
        ::unlink(x_path.c_str());
        core::keep_on_interrupt(x_path);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    /// The path.
    const std::string& make(std::uint64_t bytes) {
        std::string path = "/dev/shm/tailrace." + std::to_string(::getpid()) + ".XXXXXX";
        x_file = ::mkostemp(path.data(), O_CLOEXEC);
        if (x_file < 0) throw failed("shared memory cannot be made", errno, path);
        x_path = path;
        x_made = true;
        core::remove_on_interrupt(x_path);
        if (::ftruncate(x_file, static_cast<off_t>(bytes)) != 0)
            throw failed(core::bytes_text(bytes) + " cannot be shared", errno, x_path);
        return x_path;
    }
    void open(const std::string& path) {
        x_path = path;
        x_file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (x_file < 0)
            throw failed("the shared memory of the first rank cannot be opened", errno, path);
    }
    /// The pages are where the calling rank runs, and there is no SIGBUS later.
    void reserve(std::uint64_t begin, std::uint64_t bytes) const {
        if (bytes == 0) return;
        if (const int error =
                ::posix_fallocate(x_file, static_cast<off_t>(begin), static_cast<off_t>(bytes)))
            throw failed(core::bytes_text(bytes) + " of shared memory are not there", error,
                         x_path);
    }
    [[nodiscard]] int file() const noexcept { return x_file; }

private:
    std::string x_path;
    int x_file = -1;
    bool x_made = false;
};

std::shared_ptr<std::byte> mapped(std::uint64_t bytes, int file) {
    const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    const auto length = static_cast<std::size_t>(bytes);
    void* block = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, kind, file, 0);
    if (block == MAP_FAILED)
        throw failed(core::bytes_text(bytes) + " cannot be mapped", errno, "shared memory");
    return {static_cast<std::byte*>(block), [length](std::byte* one) { ::munmap(one, length); }};
}

void SharedMemory::reserve(std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return;
    const std::uint64_t first = x_parts[x_own].begin + begin, bytes = end - begin;
    ask_for(bytes);
    if (x_file) x_file->reserve(first, bytes);
    for (std::uint64_t i = 0; i < bytes; i += page) {
        volatile std::byte& one = x_block.get()[first + i];
        one = std::byte{0};
    }
}

SharedMemory Comm::share_memory(std::uint64_t bytes, bool reserve) const {
    std::vector<std::uint64_t> asked(static_cast<std::size_t>(size()));
    asked[static_cast<std::size_t>(rank())] = bytes;
    reduce(asked, Reduce::sum);
    SharedMemory memory;
    memory.x_own = static_cast<std::size_t>(rank());
    std::uint64_t total = 0;
    for (const std::uint64_t one : asked) {
        memory.x_parts.push_back({total, one});
        const std::uint64_t end = core::checked_add(total, one, "shared memory");
        total = core::checked_add(end, page - 1, "shared memory") / page * page;
    }
    if (total == 0) return memory;
    agree(caught([&] { memory.x_block = x_group->map(total); }));
    if (memory.x_block) return memory;

    const auto file = std::make_shared<MemoryFile>();
    const std::string path = broadcast(agree_on([&] {
        if (rank() != 0) return std::string();
        if (reserve) ask_for(total);
        return file->make(total);
    }));
    agree_on([&] {
        if (rank() != 0) file->open(path);
        if (reserve) file->reserve(memory.x_parts[memory.x_own].begin, bytes);
        memory.x_block = mapped(total, file->file());
    });
    file->unname();
    if (!reserve) memory.x_file = file;
    return memory;
}

}  // namespace tailrace::comm
