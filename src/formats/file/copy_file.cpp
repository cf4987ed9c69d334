// SPDX-License-Identifier: Apache-2.0
#include "formats/file/copy_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "formats/file/part_file.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // by one call

/// What the file system copies by itself; where it cannot, less than all, or nothing.
std::uint64_t copied_below(int from, int to, std::uint64_t bytes) {
    std::uint64_t done = 0;
    while (done < bytes) {
        const ssize_t now =
            ::copy_file_range(from, nullptr, to, nullptr, std::min(bytes - done, most_bytes), 0);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) break;
        done += static_cast<std::uint64_t>(now);
    }
    return done;
}

}  // namespace

void copy_file(const fs::path& from, const fs::path& to) {
    const Descriptor source(open_file(from, O_RDONLY));
    if (!source.open()) throw system_error(errno, "cannot read the file to append to it", from);
    struct stat info {};
    if (::fstat(source.get(), &info) != 0)
        throw system_error(errno, "cannot look at the file", from);
    const Descriptor copy(::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 info.st_mode & 0777));
    if (!copy.open()) throw system_error(errno, "cannot create the file", to);
    if (::ioctl(copy.get(), FICLONE, source.get()) == 0) return;
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    check_space(copy.get(), bytes, to, core::Code::no_space);
    std::uint64_t done = copied_below(source.get(), copy.get(), bytes);
    std::vector<std::byte> buffer;
    if (done < bytes) buffer.resize(std::min<std::uint64_t>(bytes - done, std::uint64_t{8} << 20));
    while (done < bytes) {
        const std::uint64_t now = std::min<std::uint64_t>(bytes - done, buffer.size());
        read_fully(source.get(), buffer.data(), now, done, from);
        write_fully(copy.get(), buffer.data(), now, done, to);
        done += now;
    }
}

core::Error cannot_append(const fs::path& file, const std::string& object,
                          const std::string& difference) {
    return core::Error(core::Code::bad_input, "nothing can be appended to it: " + difference,
                       file.string() + (object.empty() ? "" : ": " + object),
                       "define what is in the file, or write another file");
}

}  // namespace tailrace::formats
