// SPDX-License-Identifier: Apache-2.0
// Messages as bytes: whole ones come back, damaged ones are refused.
#include <doctest/doctest.h>

#include <cstring>

#include "server/protocol/message.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

std::vector<Message> one_of_each() {
    const std::uint64_t big = std::uint64_t{1} << 60;
    return {
        Hello{3, big},
        Meta{1, 2, "hourly", "a.nc", {big, 5, WhenFull::error}, 7, {std::byte{1}, std::byte{2}}},
        Data{1, 2, 3, 4, 5, 8, {big, 3}, {{big - 1, 0}, {1, 3}}, 9, 24},
        Data{1, 2, 3, 4, 5, 8, {big, 3}, {{big - 1, 0}, {1, 3}}, 9, big, big},
        Data{.place = {{0}, {3}}, .payload_bytes = 24, .lost = core::Error(core::Code::io, "gone")},
        End{Ending::flush, 1, 2, 3, 4, big, 6, 7},
        Call{1, Ending::step, 2, 3, 4, 5, 6, CallText{"hourly", "a.nc", {{"T", big}, {"u", 1}}}},
        Call{1, Ending::detach},
        Credit{1, big, {{3, std::nullopt}, {4, core::Error(core::Code::no_space, "full", "f")}}},
        Disagreement{4, core::Error(core::Code::io, "text", "here", "so").seen_by(2, 3, 9)}};
}

std::vector<std::byte> with_payload(const Message& message) {
    std::vector<std::byte> bytes = encode(message);
    bytes.resize(bytes.size() + bytes_behind(message), std::byte{42});
    return bytes;
}

core::Code code_of(std::span<const std::byte> bytes) {
    try {
        static_cast<void>(decode(bytes));
    } catch (const core::Error& error) {
        return error.code();
    }
    FAIL("not refused");
    return core::Code::internal;
}

}  // namespace

TEST_CASE("messages: each comes back as it was") {
    for (const Message& message : one_of_each()) {
        const auto bytes = with_payload(message);
        const auto [back, payload] = decode(bytes);
        CHECK(back.index() == message.index());
        CHECK(encode(back) == encode(message));
        CHECK(payload.size() == bytes_behind(message));
        CHECK(payload.data() + payload.size() == bytes.data() + bytes.size());
    }
    const auto bytes = encode(one_of_each().back());
    const Message back = decode(bytes).first;
    const auto& error = std::get<Disagreement>(back).error;
    CHECK(std::string(error.what()) ==
          "here: text (rank 2 of 9; also on 2 other ranks)\n"
          "       hint: so");
}

TEST_CASE("messages: every byte that changes before the payload is found") {
    for (const Message& message : one_of_each()) {
        const auto whole = with_payload(message);
        for (std::size_t at = 0; at < encode(message).size(); ++at)
            for (const unsigned bit : {0U, 3U, 7U}) {
                auto bytes = whole;
                bytes[at] ^= std::byte{1} << bit;
                CHECK(code_of(bytes) == core::Code::data_lost);
            }
    }
}

TEST_CASE("messages: bytes that are missing or too many are found") {
    for (const Message& message : one_of_each()) {
        auto bytes = with_payload(message);
        for (std::size_t size = 0; size < bytes.size(); ++size)
            CHECK(code_of(std::span(bytes).first(size)) == core::Code::data_lost);
        bytes.push_back(std::byte{0});
        CHECK(code_of(bytes) == core::Code::data_lost);
    }
}

TEST_CASE("messages: what is whole and of another version is refused with the remedy") {
    auto bytes = encode(Hello{1, 2});
    const std::uint64_t version = protocol_version + 1, none = 0;
    std::memcpy(bytes.data() + 8, &version, 8);
    std::memcpy(bytes.data() + 32, &none, 8);
    const std::uint64_t check = short_hash(bytes);
    std::memcpy(bytes.data() + 32, &check, 8);
    CHECK(code_of(bytes) == core::Code::unsupported);
}

TEST_CASE("messages: those of another run's random bytes are refused") {
    std::vector<std::byte> bytes(200, std::byte{0x5a});
    CHECK(code_of(bytes) == core::Code::data_lost);
    CHECK(code_of({}) == core::Code::data_lost);
}
