// SPDX-License-Identifier: Apache-2.0
#include "core/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/error.hpp"

namespace tailrace::core {

namespace {

constexpr std::uint64_t window_bytes = std::uint64_t{1} << 30;

Error failed(const std::string& what, const std::filesystem::path& file) {
    return Error(code_of_errno(errno), what + ": " + describe_errno(errno), file.string(),
                 "check that the file is there and can be read");
}

/// A file open for reading.
class Opened {
public:
    explicit Opened(const std::filesystem::path& file)
        : x_file(file), x_fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (x_fd < 0) throw failed("cannot open the file", file);
    }
    ~Opened() { ::close(x_fd); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

    [[nodiscard]] int fd() const noexcept { return x_fd; }
    [[nodiscard]] std::uint64_t bytes() const {
        struct stat info {};
        if (::fstat(x_fd, &info) != 0) throw failed("cannot look at the file", x_file);
        return static_cast<std::uint64_t>(info.st_size);
    }
    /// Resident pages of a part of it.
    [[nodiscard]] std::uint64_t resident(std::uint64_t offset, std::uint64_t bytes,
                                         std::uint64_t page) const {
        const auto length = static_cast<std::size_t>(bytes);
        void* mapped =
            ::mmap(nullptr, length, PROT_READ, MAP_SHARED, x_fd, static_cast<off_t>(offset));
        if (mapped == MAP_FAILED) throw failed("cannot map the file", x_file);
        std::vector<unsigned char> there(static_cast<std::size_t>((bytes + page - 1) / page));
        const int result = ::mincore(mapped, length, there.data());
        const int error_number = errno;
        ::munmap(mapped, length);
        errno = error_number;
        if (result != 0) throw failed("cannot tell what of the file is in memory", x_file);
        return static_cast<std::uint64_t>(std::count_if(
            there.begin(), there.end(), [](unsigned char state) { return (state & 1U) != 0; }));
    }

private:
    const std::filesystem::path& x_file;
    int x_fd;
};

}  // namespace

Residency residency(const std::filesystem::path& file) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const Opened opened(file);
    const std::uint64_t bytes = opened.bytes();
    Residency found;
    found.pages = (bytes + page - 1) / page;
    for (std::uint64_t at = 0; at < bytes; at += window_bytes)
        found.resident += opened.resident(at, std::min(window_bytes, bytes - at), page);
    return found;
}

void drop_pages(const std::filesystem::path& file) {
    const Opened opened(file);
    const int result = ::posix_fadvise(opened.fd(), 0, 0, POSIX_FADV_DONTNEED);
    if (result == 0) return;
    errno = result;
    throw failed("cannot drop the file from the page cache", file);
}

}  // namespace tailrace::core
