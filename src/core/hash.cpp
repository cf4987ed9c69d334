// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <xxhash.h>

#include <cstdint>
#include <new>

namespace tailrace::core {

namespace {

std::string text_of(XXH128_hash_t value) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, value);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned char byte : canonical.digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace

struct Hash::State {
    XXH3_state_t* xxh3 = XXH3_createState();
    State() {
        if (xxh3 == nullptr || XXH3_128bits_reset(xxh3) != XXH_OK) throw std::bad_alloc();
    }
    ~State() { XXH3_freeState(xxh3); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
};

Hash::Hash() : x_state(std::make_unique<State>()) {}
Hash::~Hash() = default;
Hash::Hash(Hash&&) noexcept = default;
Hash& Hash::operator=(Hash&&) noexcept = default;

void Hash::update(std::span<const std::byte> bytes) {
    if (!bytes.empty()) XXH3_128bits_update(x_state->xxh3, bytes.data(), bytes.size());
}

std::string Hash::hex() const { return text_of(XXH3_128bits_digest(x_state->xxh3)); }

std::string hash_hex(std::span<const std::byte> bytes) {
    return text_of(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace tailrace::core
