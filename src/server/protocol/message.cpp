// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/message.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::server {

namespace {

using core::Code;
using core::Error;

constexpr std::uint64_t magic = 0x6361'7274'6c69'6174ULL;  // "tailtrac", least byte first
constexpr std::size_t header_bytes = 5 * sizeof(std::uint64_t);
struct Header {
    std::uint64_t begin = magic, version = protocol_version;
    std::uint64_t body_bytes = 0, payload_bytes = 0;
    std::uint64_t check = 0;  // over this header with 0 here, and the body
};
static_assert(sizeof(Header) == header_bytes);

std::uint64_t check_of(Header header, std::span<const std::byte> body) {
    header.check = 0;
    std::vector<std::byte> all(header_bytes + body.size());
    std::memcpy(all.data(), &header, header_bytes);
    std::copy(body.begin(), body.end(), all.begin() + header_bytes);
    return short_hash(all);
}

}  // namespace

std::string place_text(const std::string& file, const std::string& variable, std::uint64_t record) {
    return file + ", variable " + variable + ", record " + std::to_string(record + 1);
}

std::uint64_t bytes_behind(const Message& message) {
    const auto* data = std::get_if<Data>(&message);
    return data != nullptr && !data->slot && !data->lost ? data->payload_bytes : 0;
}

std::vector<std::byte> encode(const Message& message) {
    std::vector<std::byte> all(header_bytes);
    ArchiveWriter(all).all(message);
    const std::span body = std::span(all).subspan(header_bytes);
    Header header;
    header.body_bytes = body.size();
    header.payload_bytes = bytes_behind(message);
    header.check = check_of(header, body);
    std::memcpy(all.data(), &header, header_bytes);
    return all;
}

std::pair<Message, std::span<const std::byte>> decode(std::span<const std::byte> bytes) {
    Header header;
    if (bytes.size() < header_bytes) throw damaged("it is too short");
    std::memcpy(&header, bytes.data(), header_bytes);
    bytes = bytes.subspan(header_bytes);
    if (header.begin != magic) throw damaged("it does not begin as one of ours");
    if (header.body_bytes > bytes.size() ||
        header.payload_bytes != bytes.size() - header.body_bytes)
        throw damaged("its length is not what it says");
    if (header.check != check_of(header, bytes.first(header.body_bytes)))
        throw damaged("its checksum is wrong");
    if (header.version != protocol_version)
        throw Error(Code::unsupported,
                    "a message has version " + std::to_string(header.version) +
                        " of the server's protocol, this program has " +
                        std::to_string(protocol_version),
                    "", "build model and server with the same Tailrace");
    return {unarchived<Message>(bytes.first(header.body_bytes)), bytes.subspan(header.body_bytes)};
}

}  // namespace tailrace::server
