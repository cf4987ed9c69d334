// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/readable.hpp"

#include <cstddef>
#include <cstdint>

namespace tailrace::intent::spool {
namespace {

/// Bytes of the character that begins here; 0 where none does (Unicode 15, table 3-7).
std::size_t character(std::string_view text) {
    const auto at = [text](std::size_t place) { return static_cast<std::uint8_t>(text[place]); };
    const std::uint8_t first = at(0);
    if (first < 0x80) return 1;
    const std::size_t bytes = first < 0xc2   ? 0
                              : first < 0xe0 ? 2
                              : first < 0xf0 ? 3
                              : first < 0xf5 ? 4
                                             : 0;
    if (bytes == 0 || text.size() < bytes) return 0;
    const std::uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at(1) < least || at(1) > most) return 0;
    for (std::size_t place = 2; place < bytes; ++place)
        if ((at(place) & 0xc0) != 0x80) return 0;
    return bytes;
}

}  // namespace

std::string readable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    made.reserve(text.size());
    while (!text.empty()) {
        const std::size_t bytes = character(text);
        if (bytes > 0) {
            made += text.substr(0, bytes);
        } else {
            const auto byte = static_cast<std::uint8_t>(text.front());
            made += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        }
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
    return made;
}

}  // namespace tailrace::intent::spool
