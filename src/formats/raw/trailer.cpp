// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/trailer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::raw {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

constexpr std::string_view magic = "TAILRACE";

struct Trailer {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    char magic[8] = {};
};
static_assert(sizeof(Trailer) == 24);

// A description is read into memory: one that claims to be larger is damage, not a description.
constexpr std::uint64_t largest_description = std::uint64_t{1} << 32;

Descriptor open_for_reading(const fs::path& file) {
    Descriptor fd(open_file(file, O_RDONLY));
    if (fd.open()) return fd;
    const int seen = errno;
    throw Error(seen == ENOENT ? Code::no_such_file : Code::io,
                "cannot open the file: " + core::describe_errno(seen), file.string(),
                "check the name");
}

std::uint64_t size_of_file(int fd, const fs::path& file) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) throw system_error(errno, "cannot look at the file", file);
    if (!S_ISREG(info.st_mode))
        throw Error(Code::bad_input, "it is not a regular file", file.string(), "check the name");
    return static_cast<std::uint64_t>(info.st_size);
}

bool has_trailer(int fd, std::uint64_t size, const fs::path& file, Trailer& trailer) {
    if (size < sizeof trailer) return false;
    read_fully(fd, &trailer, sizeof trailer, size - sizeof trailer, file);
    return std::memcmp(trailer.magic, magic.data(), magic.size()) == 0;
}

Described description_of(int fd, std::uint64_t size, const Trailer& trailer, const fs::path& file) {
    const std::uint64_t end = size - sizeof trailer;
    if (trailer.length > largest_description || trailer.length > end ||
        trailer.offset != end - trailer.length)
        throw Error(Code::io,
                    "its trailer points to bytes " + std::to_string(trailer.offset) + " + " +
                        std::to_string(trailer.length) + " of " + std::to_string(size),
                    file.string(), "it is damaged; write it again");
    std::string text(trailer.length, '\0');
    read_fully(fd, text.data(), text.size(), trailer.offset, file);
    return {std::move(text), trailer.offset};
}

[[noreturn]] void no_container(const fs::path& file) {
    throw Error(Code::io, "it is no complete raw container: the trailer is missing", file.string(),
                "check the name; a file of another format has another reader");
}

}  // namespace

void write_description(const fs::path& file, std::uint64_t data_end, const std::string& text) {
    const Descriptor fd(open_file(file, O_WRONLY));
    if (!fd.open()) throw system_error(errno, "cannot open the file", file);
    if (::ftruncate(fd.get(), static_cast<off_t>(data_end)) != 0)
        throw system_error(errno, "cannot set the size of the file", file);
    Trailer trailer{data_end, text.size(), {}};
    std::memcpy(trailer.magic, magic.data(), magic.size());
    std::string all = text;
    all.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    write_fully(fd.get(), all.data(), all.size(), data_end, file);
}

Described read_description(const fs::path& file) {
    const Descriptor fd = open_for_reading(file);
    const std::uint64_t size = size_of_file(fd.get(), file);
    Trailer trailer;
    if (!has_trailer(fd.get(), size, file, trailer)) no_container(file);
    return description_of(fd.get(), size, trailer, file);
}

Described read_description_or_manifest(const fs::path& file) {
    const Descriptor fd = open_for_reading(file);
    const std::uint64_t size = size_of_file(fd.get(), file);
    Trailer trailer;
    if (has_trailer(fd.get(), size, file, trailer))
        return description_of(fd.get(), size, trailer, file);
    char first = 0;
    if (size > 0) read_fully(fd.get(), &first, 1, 0, file);
    if (first != '{' || size > largest_description) no_container(file);
    std::string text(size, '\0');
    read_fully(fd.get(), text.data(), text.size(), 0, file);
    return {std::move(text), 0};
}

}  // namespace tailrace::formats::raw
