// SPDX-License-Identifier: Apache-2.0
// Content hashes: XXH3 with 128 bits over a stream of bytes.
//
// The hash of an object is taken over all its elements in row-major order, little endian, so that
// it does not depend on ranks, chunks, compression or file format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tailrace::core {

class Hash {
public:
    Hash();  ///< [local]
    ~Hash();
    Hash(Hash&&) noexcept;
    Hash& operator=(Hash&&) noexcept;

    /// Takes the next bytes of the stream; how it is cut does not matter.  [local]
    void update(std::span<const std::byte> bytes);
    /// 32 hexadecimal digits, the most significant first, as `xxhsum -H2` prints. More bytes may
    /// follow.  [local]
    [[nodiscard]] std::string hex() const;

private:
    struct State;
    std::unique_ptr<State> x_state;
};

/// The hash of one piece of memory.  [local]
[[nodiscard]] std::string hash_hex(std::span<const std::byte> bytes);

}  // namespace tailrace::core
