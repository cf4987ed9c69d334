// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/message.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "core/hash.hpp"

namespace tailrace::server {

namespace {

using core::Code;
using core::Error;

constexpr std::uint64_t magic = 0x6361'7274'6c69'6174ULL;  // "tailtrac", least byte first
constexpr std::size_t header_bytes = 6 * sizeof(std::uint64_t);
struct Header {
    std::uint64_t begin = magic, version = protocol_version;
    std::uint64_t kind = 0;  // place in Message
    std::uint64_t body_bytes = 0, payload_bytes = 0;
    std::uint64_t check = 0;  // over this header with 0 here, and the body
};
static_assert(sizeof(Header) == header_bytes);

Error damaged(const std::string& what) {
    return {Code::data_lost, "a message between model and server arrived damaged: " + what, "",
            "the transport lost bytes; please report it with the MPI library in use"};
}

// The fields of each message, listed once for writing and reading.
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Hello>
{
    io.all(m.clients, m.layout_hash);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, QueueBounds>
{
    io.all(m.limit_bytes, m.step_bytes, m.when_full);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Meta>
{
    io.all(m.collection, m.file_seq, m.collection_name, m.file, m.bounds, m.meta_hash, m.body);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Data>
{
    io.all(m.collection, m.file_seq, m.item, m.field, m.record, m.element_bytes, m.extents,
           m.place.offset, m.place.count, m.seq, m.payload_bytes);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, End>
{
    io.all(m.kind, m.collection, m.file_seq, m.item, m.messages, m.bytes, m.meta_hash, m.call_hash);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, PutCall>
{
    io.all(m.variable, m.definition);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, CallText>
{
    io.all(m.collection, m.file, m.puts);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Call>
{
    io.all(m.call, m.kind, m.collection, m.item, m.server, m.meta_hash, m.text_hash, m.text);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Status>
{
    io.all(m.item, m.error);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Credit>
{
    io.all(m.collection, m.bytes, m.statuses);
}
void fields(auto& io, auto& m)
    requires std::same_as<std::remove_cvref_t<decltype(m)>, Disagreement>
{
    io.all(m.call, m.error);
}

class Writer {
public:
    explicit Writer(std::vector<std::byte>& to) : x_to(to) {}
    void all(const auto&... values) { (one(values), ...); }

private:
    template <class T>
    void one(const T& value) {
        if constexpr (std::is_enum_v<T>)
            one(static_cast<std::uint64_t>(value));
        else if constexpr (std::is_arithmetic_v<T>)
            bytes(&value, sizeof value);
        else
            fields(*this, value);
    }
    void one(std::byte value) { x_to.push_back(value); }
    void one(const std::string& text) {
        one(std::uint64_t{text.size()});
        bytes(text.data(), text.size());
    }
    template <class T>
    void one(const std::vector<T>& values) {
        one(std::uint64_t{values.size()});
        if constexpr (std::is_trivially_copyable_v<T>)
            bytes(values.data(), values.size() * sizeof(T));
        else
            for (const T& value : values) one(value);
    }
    template <class T>
    void one(const std::optional<T>& value) {
        one(std::uint64_t{value ? 1U : 0U});
        if (value) one(*value);
    }
    void one(const Error& error) {
        all(error.to_bytes(), error.rank(), error.failed_ranks(), error.total_ranks());
    }
    void bytes(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::byte*>(data);
        x_to.insert(x_to.end(), begin, begin + size);
    }

    std::vector<std::byte>& x_to;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> from) : x_from(from) {}
    void all(auto&... values) { (one(values), ...); }
    [[nodiscard]] bool at_end() const { return x_from.empty(); }

private:
    template <class T>
    void one(T& value) {
        if constexpr (std::is_enum_v<T>) {
            constexpr T last = std::is_same_v<T, Ending> ? T(Ending::detach) : T(WhenFull::error);
            std::uint64_t number = 0;
            one(number);
            if (number > static_cast<std::uint64_t>(last)) throw damaged("a word is unknown");
            value = static_cast<T>(number);
        } else if constexpr (std::is_arithmetic_v<T>) {
            bytes(&value, sizeof value);
        } else {
            fields(*this, value);
        }
    }
    void one(std::string& text) {
        text.resize(size(1));
        bytes(text.data(), text.size());
    }
    template <class T>
    void one(std::vector<T>& values) {
        values.resize(size(std::is_trivially_copyable_v<T> ? sizeof(T) : 1));
        if constexpr (std::is_trivially_copyable_v<T>)
            bytes(values.data(), values.size() * sizeof(T));
        else
            for (T& value : values) one(value);
    }
    template <class T>
    void one(std::optional<T>& value) {
        if (size(0) == 0) return;
        if constexpr (std::is_same_v<T, Error>)
            value.emplace(Code::internal, "");
        else
            value.emplace();
        one(*value);
    }
    void one(Error& error) {
        std::vector<std::byte> text;
        int rank = 0, failed = 0, total = 0;
        all(text, rank, failed, total);
        error = Error::from_bytes(text);
        if (total > 0) error = error.seen_by(rank, failed, total);
    }
    /// A number of elements of at least so many bytes each, all of which are there.
    std::size_t size(std::size_t least_bytes) {
        std::uint64_t count = 0;
        one(count);
        if (least_bytes > 0 && count > x_from.size() / least_bytes) throw damaged("it is too short");
        return count;
    }
    void bytes(void* to, std::size_t size) {
        if (size > x_from.size()) throw damaged("it is too short");
        if (size > 0) std::memcpy(to, x_from.data(), size);
        x_from = x_from.subspan(size);
    }

    std::span<const std::byte> x_from;
};

std::uint64_t check_of(Header header, std::span<const std::byte> body) {
    header.check = 0;
    std::vector<std::byte> all(header_bytes + body.size());
    std::memcpy(all.data(), &header, header_bytes);
    std::copy(body.begin(), body.end(), all.begin() + header_bytes);
    return short_hash(all);
}

template <std::size_t... I>
Message empty_message(std::uint64_t kind, std::index_sequence<I...>) {
    Message message;
    static_cast<void>(((kind == I && (message.emplace<I>(), true)) || ...));
    return message;
}

}  // namespace

std::uint64_t short_hash(std::span<const std::byte> bytes) {
    return std::stoull(core::hash_hex(bytes).substr(0, 16), nullptr, 16);
}

std::vector<std::byte> encode(const Message& message) {
    std::vector<std::byte> all(header_bytes);
    Writer writer(all);
    std::visit([&writer](const auto& one) { fields(writer, one); }, message);
    const std::span body = std::span(all).subspan(header_bytes);
    Header header;
    header.kind = message.index();
    header.body_bytes = body.size();
    if (const auto* data = std::get_if<Data>(&message)) header.payload_bytes = data->payload_bytes;
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
    if (header.kind >= std::variant_size_v<Message>) throw damaged("its kind is unknown");
    Message message = empty_message(
        header.kind, std::make_index_sequence<std::variant_size_v<Message>>{});
    Reader reader(bytes.first(header.body_bytes));
    std::visit([&reader](auto& one) { fields(reader, one); }, message);
    if (!reader.at_end()) throw damaged("it is too long");
    return {std::move(message), bytes.subspan(header.body_bytes)};
}

}  // namespace tailrace::server
