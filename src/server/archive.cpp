// SPDX-License-Identifier: Apache-2.0
#include "server/archive.hpp"

#include "core/hash.hpp"

namespace tailrace::server {

std::uint64_t short_hash(std::span<const std::byte> bytes) {
    return std::stoull(core::hash_hex(bytes).substr(0, 16), nullptr, 16);
}

core::Error damaged(const std::string& what) {
    return {core::Code::data_lost, "a message between model and server arrived damaged: " + what,
            "", "the transport lost bytes; please report it with the MPI library in use"};
}

}  // namespace tailrace::server
