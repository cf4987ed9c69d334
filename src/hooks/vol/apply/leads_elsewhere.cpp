// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/leads_elsewhere.hpp"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tailrace::hooks::vol {
namespace {

constexpr size_t window = size_t{2} << 20;
/// More than a link message takes, whose name and value are no longer than 65535 bytes each.
constexpr size_t overlap = size_t{192} << 10;
constexpr size_t heap_header = 16;  // "GCOL", version, 3 bytes, the size of all
constexpr size_t heap_object = 16;  // number, uses, 4 bytes, the size of what follows

/// HDF5 writes the lowest byte first, as we have it.
uint64_t number_at(const unsigned char* at, size_t bytes) {
    uint64_t number = 0;
    memcpy(&number, at, bytes);
    return number;
}

/// Fills in what there is from `offset`; false where it cannot be read.
bool read_at(int file, unsigned char* to, size_t bytes, uint64_t offset, size_t& got) {
    for (got = 0; got < bytes;) {
        const ssize_t now = pread(file, to + got, bytes - got, static_cast<off_t>(offset + got));
        if (now < 0) return false;
        if (now == 0) return true;
        got += static_cast<size_t>(now);
    }
    return true;
}

/// The heap at `at` of `bytes` that are in memory from `offset` of the file.
bool heap_leads_elsewhere(int file, const unsigned char* at, size_t bytes, uint64_t offset,
                          uint64_t file_bytes) {
    if (bytes < heap_header || at[4] != 1 || number_at(at + 5, 3) != 0) return false;
    const uint64_t all = number_at(at + 8, 8);
    if (all > file_bytes) return true;  // sizes are not of 8 bytes here: it cannot be told
    if (all <= bytes) return may_hold_mapping(at, all);
    auto* whole = static_cast<unsigned char*>(malloc(all));
    size_t got = 0;
    const bool found =
        whole == nullptr || !read_at(file, whole, all, offset, got) || may_hold_mapping(whole, got);
    free(whole);
    return found;
}

/// Whether there is something in the first `most` of `bytes` that are in memory from `offset`.
bool look_through(int file, const unsigned char* block, size_t bytes, size_t most, uint64_t offset,
                  uint64_t file_bytes) {
    for (size_t at = 0; at < most; ++at) {
        const auto* found =
            static_cast<const unsigned char*>(memmem(block + at, bytes - at, "GCOL", 4));  // NOLINT
        if (found == nullptr) break;
        at = static_cast<size_t>(found - block);
        if (heap_leads_elsewhere(file, found, bytes - at, offset + at, file_bytes)) return true;
    }
    for (size_t at = 0; at + 2 < bytes && at < most; ++at)
        if (block[at + 2] == 64 && block[at] == 1 && is_external_link(block + at, bytes - at))
            return true;
    return false;
}

bool look_through(int file, uint64_t file_bytes) {
    auto* block = static_cast<unsigned char*>(malloc(window));
    bool found = block == nullptr;
    for (uint64_t offset = 0; !found; offset += window - overlap) {
        size_t got = 0;
        found = !read_at(file, block, window, offset, got);
        const bool last = got < window;
        found = found ||
                look_through(file, block, got, last ? got : window - overlap, offset, file_bytes);
        if (last) break;
    }
    free(block);
    return found;
}

}  // namespace

bool is_external_link(const unsigned char* block, size_t bytes) {
    // HDF5 file format, link message: version, flags, type, order, charset, length and name; of an
    // external link then the length of the names of a file and of an object, and these.
    if (bytes < 4 || block[0] != 1 || (block[1] & 0x08) == 0 || block[1] >= 0x20 || block[2] != 64)
        return false;
    const size_t length_bytes = size_t{1} << (block[1] & 3);
    size_t at = 3 + ((block[1] & 0x04) != 0 ? 8 : 0) + ((block[1] & 0x10) != 0 ? 1 : 0);
    if (bytes < at + length_bytes) return false;
    const uint64_t name = number_at(block + at, length_bytes);
    at += length_bytes;
    if (name == 0 || name > 0xffff || bytes < at + name + 2) return false;
    if (memchr(block + at, 0, name) != nullptr) return false;
    at += name;
    const size_t value = number_at(block + at, 2);
    at += 2;
    if (value < 5 || bytes < at + value) return false;
    const auto* file = block + at + 1;  // behind version and flags
    const auto* end = static_cast<const unsigned char*>(memchr(file, 0, value - 1));
    return end != nullptr && end != file &&
           memchr(end + 1, 0, block + at + value - end - 1) == block + at + value - 1;
}

bool may_hold_mapping(const unsigned char* heap, size_t bytes) {
    for (size_t at = heap_header; at + heap_object <= bytes;) {
        const uint64_t number = number_at(heap + at, 2);
        const uint64_t size = number_at(heap + at + 8, 8);
        if (number == 0) return false;  // what is free, to the end
        at += heap_object;
        if (size > bytes - at) return true;  // sizes are not of 8 bytes here: it cannot be told
        // The mapping: version, the number of its entries, and of each at least a few bytes.
        if (size > 9 && heap[at] <= 1) {
            const uint64_t entries = number_at(heap + at + 1, 8);
            if (entries > 0 && entries <= size / 8) return true;
        }
        at += (size + 7) / 8 * 8;
    }
    return false;
}

bool leads_elsewhere(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    struct stat status {};
    const bool found =
        fstat(file, &status) != 0 || look_through(file, static_cast<uint64_t>(status.st_size));
    ::close(file);
    return found;
}

}  // namespace tailrace::hooks::vol
