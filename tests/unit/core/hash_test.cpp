// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace tailrace::core;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("known values of XXH3-128") {
    // The empty input from the published test vectors, the others from xxhsum -H2.
    CHECK(hash_hex({}) == "99aa06d3014798d86001c324468d497f");
    CHECK(hash_hex(bytes_of("abc")) == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("how the stream is cut does not matter") {
    std::vector<std::byte> data(100003);
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<std::byte>(k * 7 >> 3);
    const std::string whole = hash_hex(data);
    for (std::size_t piece : {1UL, 7UL, 64UL, 240UL, 1024UL, 65536UL}) {
        Hash hash;
        for (std::size_t at = 0; at < data.size(); at += piece)
            hash.update(std::span(data).subspan(at, std::min(piece, data.size() - at)));
        hash.update({});
        CHECK(hash.hex() == whole);
    }
}

TEST_CASE("a hash can be read in mid-stream and moved") {
    Hash hash;
    hash.update(bytes_of("a"));
    CHECK(hash.hex() == hash_hex(bytes_of("a")));
    hash.update(bytes_of("bc"));
    Hash moved = std::move(hash);
    CHECK(moved.hex() == hash_hex(bytes_of("abc")));
}

TEST_CASE("one bit changes it") {
    std::vector<std::byte> data(4096);
    const std::string before = hash_hex(data);
    data[4095] = std::byte{1};
    CHECK(hash_hex(data) != before);
}
