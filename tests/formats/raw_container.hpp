// SPDX-License-Identifier: Apache-2.0
// An independent reader of the raw container for tests, written from
// docs/reference/raw_container.md alone: it shares no code with src/formats.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tailrace::test {

using Numbers = std::vector<std::uint64_t>;

/// A value that tells the position: different for every element and seed.
inline std::uint64_t value_at(std::uint64_t linear, std::uint64_t seed) {
    std::uint64_t z = linear * 2 + seed * 0x10000000001ULL + 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) | 1;  // never 0: what nobody wrote is seen
}

inline std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot open " + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A file read with pread only, so that sparse files of any size are fine.
class RawFile {
public:
    explicit RawFile(const std::string& path) : x_path(path), x_fd(::open(path.c_str(), O_RDONLY)) {
        if (x_fd < 0) throw std::runtime_error("cannot open " + path);
        struct stat info {};
        ::fstat(x_fd, &info);
        x_size = static_cast<std::uint64_t>(info.st_size);
    }
    ~RawFile() { ::close(x_fd); }
    RawFile(const RawFile&) = delete;
    RawFile& operator=(const RawFile&) = delete;

    std::uint64_t size() const { return x_size; }
    void read(std::uint64_t at, void* data, std::size_t bytes) const {
        if (::pread(x_fd, data, bytes, static_cast<off_t>(at)) != static_cast<ssize_t>(bytes))
            throw std::runtime_error("short read of " + x_path + " at " + std::to_string(at));
    }
    std::uint64_t u64(std::uint64_t at) const {
        unsigned char b[8];
        read(at, b, 8);
        std::uint64_t value = 0;
        for (int k = 7; k >= 0; --k) value = value * 256 + b[k];
        return value;
    }
    /// The JSON text that the trailer points to.
    nlohmann::json description() const {
        if (x_size < 24) throw std::runtime_error("no trailer in " + x_path);
        char magic[8];
        read(x_size - 8, magic, 8);
        if (std::memcmp(magic, "TAILRACE", 8) != 0) throw std::runtime_error("no magic: " + x_path);
        const std::uint64_t offset = u64(x_size - 24);
        const std::uint64_t length = u64(x_size - 16);
        if (offset + length + 24 != x_size) throw std::runtime_error("bad trailer: " + x_path);
        std::string text(length, '\0');
        read(offset, text.data(), text.size());
        return nlohmann::json::parse(text);
    }

private:
    std::string x_path;
    int x_fd;
    std::uint64_t x_size = 0;
};

/// Where element `at` of an object lies in a shared file.
inline std::uint64_t byte_of(const nlohmann::json& object, const Numbers& at,
                             std::uint64_t element_bytes) {
    const Numbers dims = object.at("dims");
    const std::uint64_t offset = object.at("offset");
    std::uint64_t index = 0;
    if (object.at("chunk").is_null()) {
        for (std::size_t d = 0; d < dims.size(); ++d) index = index * dims[d] + at[d];
        return offset + index * element_bytes;
    }
    const Numbers chunk = object["chunk"];
    std::uint64_t number = 0, inside = 0, volume = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::uint64_t grid = (dims[d] + chunk[d] - 1) / chunk[d];
        number = number * grid + at[d] / chunk[d];
        inside = inside * chunk[d] + at[d] % chunk[d];
        volume *= chunk[d];
    }
    return offset + (number * volume + inside) * element_bytes;
}

/// All elements of object `number` in a shared file or a file per rank, row-major.
template <class T>
std::vector<T> read_object(const std::string& path, std::size_t number) {
    nlohmann::json whole;
    bool per_rank = false;
    try {
        whole = RawFile(path).description();
    } catch (const std::exception&) {
        whole = nlohmann::json::parse(slurp(path));
        per_rank = true;
    }
    if (whole.at("format") != "tailrace-raw/1") throw std::runtime_error("other format");
    if (per_rank != (whole.at("kind") == "per-rank")) throw std::runtime_error("other kind");
    const nlohmann::json object = whole.at("objects").at(number);
    const Numbers dims = object.at("dims");
    std::uint64_t volume = 1;
    for (std::uint64_t n : dims) volume *= n;
    std::vector<T> all(volume);
    Numbers at(dims.size());
    auto position = [&](std::uint64_t linear, const Numbers& extents) {
        for (std::size_t d = extents.size(); d-- > 0;) {
            at[d] = linear % extents[d];
            linear /= extents[d];
        }
    };
    if (!per_rank) {
        const RawFile file(path);
        for (std::uint64_t k = 0; k < volume; ++k) {
            position(k, dims);
            file.read(byte_of(object, at, sizeof(T)), &all[k], sizeof(T));
        }
        return all;
    }
    const std::string folder =
        path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
    for (const std::string part : whole.at("parts")) {
        const RawFile file(folder + "/" + part);
        const nlohmann::json description = file.description();
        for (const nlohmann::json& piece : description.at("pieces")) {
            if (piece.at("object").get<std::size_t>() != number) continue;
            const Numbers offset = piece.at("offset"), count = piece.at("count");
            std::uint64_t pieces = 1;
            for (std::uint64_t n : count) pieces *= n;
            for (std::uint64_t k = 0; k < pieces; ++k) {
                position(k, count);
                std::uint64_t linear = 0;
                for (std::size_t d = 0; d < dims.size(); ++d)
                    linear = linear * dims[d] + offset[d] + at[d];
                const std::uint64_t begin = piece.at("at");
                file.read(begin + k * sizeof(T), &all[linear], sizeof(T));
            }
        }
    }
    return all;
}

/// Number of elements of an object that are not value_at(position, seed).
template <class T>
std::uint64_t wrong_elements(const std::string& path, std::size_t number, std::uint64_t seed) {
    const std::vector<T> all = read_object<T>(path, number);
    std::uint64_t wrong = 0;
    for (std::uint64_t k = 0; k < all.size(); ++k)
        if (all[k] != static_cast<T>(value_at(k, seed))) ++wrong;
    return wrong;
}

}  // namespace tailrace::test
