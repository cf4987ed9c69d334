// SPDX-License-Identifier: Apache-2.0
// Numbers and bytes one behind the other, for messages between ranks of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace tailrace::core {

/// Appends to a byte string.
class ByteWriter {
public:
    explicit ByteWriter(std::vector<std::byte>& to) : x_to(to) {}
    void number(std::uint64_t value) {  ///< [local]
        bytes(std::as_bytes(std::span(&value, 1)));
    }
    void numbers(std::span<const std::uint64_t> values) { bytes(std::as_bytes(values)); }
    void bytes(std::span<const std::byte> data) {
        x_to.insert(x_to.end(), data.begin(), data.end());
    }

private:
    std::vector<std::byte>& x_to;
};

/// Takes apart what a ByteWriter made.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> from) : x_from(from) {}
    [[nodiscard]] bool at_end() const noexcept { return x_from.empty(); }  ///< [local]
    /// @throws Error{Code::internal} where there is less
    [[nodiscard]] std::uint64_t number() { return numbers(1).front(); }
    [[nodiscard]] std::vector<std::uint64_t> numbers(std::size_t count) {
        std::vector<std::uint64_t> values(count);
        const auto data = bytes(count * sizeof(std::uint64_t));
        std::memcpy(values.data(), data.data(), data.size());
        return values;
    }
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t count) {
        if (count > x_from.size())
            throw Error(Code::internal, "a message between ranks is too short", "",
                        "please report it");
        const auto data = x_from.first(count);
        x_from = x_from.subspan(count);
        return data;
    }

private:
    std::span<const std::byte> x_from;
};

}  // namespace tailrace::core
