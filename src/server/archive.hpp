// SPDX-License-Identifier: Apache-2.0
// Structs as bytes and back, for what ranks of one run tell each other. A struct lists its members
// once, in a static function: fields(io, value) calls io.all(value.a, value.b).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace tailrace::server {

/// 64 bits of the hash of some bytes, to compare ranks of one run.  [local]
[[nodiscard]] std::uint64_t short_hash(std::span<const std::byte> bytes);
/// Bytes between model and server are not what was sent.  [local]
[[nodiscard]] core::Error damaged(const std::string& what);

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>;

class ArchiveWriter {
public:
    explicit ArchiveWriter(std::vector<std::byte>& to) : x_to(to) {}
    void all(const auto&... values) { (one(values), ...); }  ///< [local]

private:
    template <class T>
    void one(const T& value) {
        if constexpr (std::is_enum_v<T> && !Plain<T>)
            one(static_cast<std::uint64_t>(value));
        else if constexpr (Plain<T>)
            bytes(&value, sizeof value);
        else
            T::fields(*this, value);
    }
    void one(const std::string& text) {
        one(std::uint64_t{text.size()});
        bytes(text.data(), text.size());
    }
    template <class T>
    void one(const std::vector<T>& values) {
        one(std::uint64_t{values.size()});
        if constexpr (Plain<T>)
            bytes(values.data(), values.size() * sizeof(T));
        else
            for (const T& value : values) one(value);
    }
    template <class T>
    void one(const std::optional<T>& value) {
        one(std::uint64_t{value ? 1U : 0U});
        if (value) one(*value);
    }
    template <class... T>
    void one(const std::variant<T...>& value) {
        one(std::uint64_t{value.index()});
        std::visit([this](const auto& held) { one(held); }, value);
    }
    void one(const core::Error& error) {
        all(error.to_bytes(), error.rank(), error.failed_ranks(), error.total_ranks());
    }
    void bytes(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::byte*>(data);
        x_to.insert(x_to.end(), begin, begin + size);
    }

    std::vector<std::byte>& x_to;
};

/// Takes apart what an ArchiveWriter made, and trusts none of it.
class ArchiveReader {
public:
    explicit ArchiveReader(std::span<const std::byte> from) : x_from(from) {}
    /// @throws core::Error{Code::data_lost} if there is less, or what cannot be
    void all(auto&... values) { (one(values), ...); }
    [[nodiscard]] bool at_end() const noexcept { return x_from.empty(); }  ///< [local]

private:
    template <class T>
    void one(T& value) {
        if constexpr (std::is_enum_v<T> && !Plain<T>) {
            std::uint64_t number = 0;
            one(number);
            if (number > static_cast<std::uint64_t>(last_of(T{}))) throw damaged("an unknown word");
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, bool>) {
            std::uint8_t number = 0;
            one(number);
            value = number != 0;
        } else if constexpr (Plain<T>) {
            bytes(&value, sizeof value);
        } else {
            T::fields(*this, value);
        }
    }
    void one(std::string& text) {
        text.resize(count(1));
        bytes(text.data(), text.size());
    }
    template <class T>
    void one(std::vector<T>& values) {
        values.resize(count(Plain<T> ? sizeof(T) : 1));
        if constexpr (Plain<T>)
            bytes(values.data(), values.size() * sizeof(T));
        else
            for (T& value : values) one(value);
    }
    template <class T>
    void one(std::optional<T>& value) {
        std::uint64_t there = 0;
        one(there);
        if (there == 0) return;
        if constexpr (std::is_same_v<T, core::Error>)
            value.emplace(core::Code::internal, "");
        else
            value.emplace();
        one(*value);
    }
    template <class... T>
    void one(std::variant<T...>& value) {
        std::uint64_t index = 0;
        one(index);
        if (index >= sizeof...(T)) throw damaged("an unknown kind");
        emplace(value, index, std::index_sequence_for<T...>{});
        std::visit([this](auto& held) { one(held); }, value);
    }
    template <class Variant, std::size_t... I>
    static void emplace(Variant& value, std::uint64_t index, std::index_sequence<I...>) {
        static_cast<void>(((index == I && (value.template emplace<I>(), true)) || ...));
    }
    void one(core::Error& error) {
        std::vector<std::byte> text;
        int rank = 0, failed = 0, total = 0;
        all(text, rank, failed, total);
        error = core::Error::from_bytes(text);
        if (total > 0) error = error.seen_by(rank, failed, total);
    }
    /// A number of elements, each of at least so many bytes, all of which are there.
    std::size_t count(std::size_t least_bytes) {
        std::uint64_t number = 0;
        one(number);
        if (number > x_from.size() / least_bytes) throw damaged("it is too short");
        return number;
    }
    void bytes(void* to, std::size_t size) {
        if (size > x_from.size()) throw damaged("it is too short");
        if (size > 0) std::memcpy(to, x_from.data(), size);
        x_from = x_from.subspan(size);
    }

    std::span<const std::byte> x_from;
};

/// The bytes of a struct.  [local]
[[nodiscard]] std::vector<std::byte> archived(const auto& value) {
    std::vector<std::byte> bytes;
    ArchiveWriter(bytes).all(value);
    return bytes;
}
/// The struct of such bytes.  [local]
/// @throws core::Error{Code::data_lost} if they are damaged, missing or too many
template <class T>
[[nodiscard]] T unarchived(std::span<const std::byte> bytes) {
    T value;
    ArchiveReader reader(bytes);
    reader.all(value);
    if (!reader.at_end()) throw damaged("it is too long");
    return value;
}

}  // namespace tailrace::server
