// SPDX-License-Identifier: Apache-2.0
// Fifth user: a writer whose chunks were compressed elsewhere (by other threads, by a server). It
// asks what the Sink can, and writes elements where the Sink takes no encoded chunks.
#include <doctest/doctest.h>
#include <zlib.h>

#include "memory_sink.hpp"

using namespace tailrace;

namespace {

std::vector<std::byte> deflated(std::span<const std::byte> raw) {
    uLongf size = compressBound(raw.size());
    std::vector<std::byte> out(size);
    const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                                 reinterpret_cast<const Bytef*>(raw.data()), raw.size(), 1);
    REQUIRE(status == Z_OK);
    out.resize(size);
    return out;
}

void write_chunks(core::Sink& sink, std::uint64_t chunks, std::uint64_t chunk_elements) {
    core::Object object{.path = "/field", .type = core::Scalar::i32};
    object.dims = {{chunks * chunk_elements}};
    const auto ids = sink.define({{object}, {}});
    std::vector<std::int32_t> values(chunks * chunk_elements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i / 3);
    const auto bytes = std::as_bytes(std::span(values));
    if (!sink.can().encoded_chunks) {
        const core::Write write{.object = ids[0],
                                .place = {{0}, {values.size()}},
                                .data = bytes.data(),
                                .memory = {},
                                .type = core::Scalar::i32};
        sink.write({&write, 1});
        sink.complete(0);
        return;
    }
    const std::uint64_t chunk_bytes = chunk_elements * sizeof(std::int32_t);
    for (std::uint64_t c = 0; c < chunks; ++c) {
        const auto encoded = deflated(bytes.subspan(c * chunk_bytes, chunk_bytes));
        const core::EncodedChunk chunk{
            .object = ids[0], .offset = {c * chunk_elements}, .filter_mask = 0, .data = encoded};
        sink.write_encoded({&chunk, 1});
    }
    sink.complete(0);
}

}  // namespace

TEST_SUITE("sink_users.encoded_chunks") {
    TEST_CASE("chunks arrive as they were encoded") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {.filters = true, .encoded_chunks = true});
        write_chunks(sink, 3, 1000);
        REQUIRE(file->encoded[0].size() == 3);
        const auto& chunk = file->encoded[0].at("1000,");
        std::vector<std::int32_t> back(1000);
        uLongf size = back.size() * sizeof(std::int32_t);
        REQUIRE(uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                           reinterpret_cast<const Bytef*>(chunk.data()), chunk.size()) == Z_OK);
        CHECK(back[0] == 333);
        CHECK(back[999] == 1999 / 3);
    }

    TEST_CASE("without the capability elements are written, and the call itself is refused") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {});
        write_chunks(sink, 2, 10);
        CHECK(reinterpret_cast<const std::int32_t*>(file->data[0].data())[19] == 6);
        const core::EncodedChunk chunk{};
        CHECK_THROWS_WITH_AS(sink.write_encoded({&chunk, 1}),
                             doctest::Contains("can().encoded_chunks"), core::Error);
    }
}
