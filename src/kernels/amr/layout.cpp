// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/layout.hpp"

#include <array>
#include <charconv>

#include "core/checked.hpp"

namespace tailrace::kernels::amr {

namespace {

constexpr int digits = 17;  // that give a double back

void append(std::string& text, double value, std::chars_format format) {
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits);
    text.append(buffer.data(), end.ptr);
}

/// The same for a fraction in (0, 1) of 2^53 parts, such as those of the fill: whole numbers of 128
/// bits hold all its digits, which is several times as fast.
bool append_fraction(std::string& text, double value) {
    __extension__ using Wide = unsigned __int128;
    constexpr int bits = 53;
    constexpr std::uint64_t half = std::uint64_t{1} << (bits - 1), ten_to_17 = 100000000000000000;
    if (!(value > 0 && value < 1)) return false;
    const double scaled = value * 0x1p53;
    const auto parts = static_cast<std::uint64_t>(scaled);
    if (static_cast<double>(parts) != scaled) return false;
    Wide all = Wide{parts} * Wide{ten_to_17} * 10;
    int exponent = 1;
    for (; (all >> bits) < ten_to_17; ++exponent) all *= 10;
    auto number = static_cast<std::uint64_t>(all >> bits);
    const std::uint64_t rest = static_cast<std::uint64_t>(all) & (2 * half - 1);
    if (rest > half || (rest == half && number % 2 == 1)) ++number;  // as IEEE rounds
    if (number == ten_to_17 * 10) {
        number = ten_to_17;
        --exponent;
    }
    std::array<char, 24> buffer{};  // "1.23456789012345678e-01", each place is known
    (void)std::to_chars(buffer.data() + 1, buffer.data() + buffer.size(), number);
    buffer[0] = buffer[1];
    buffer[1] = '.';
    text.append(buffer.data(), 2 + digits) += exponent == 0 ? "e+" : "e-";
    text += static_cast<char>('0' + exponent / 10);
    text += static_cast<char>('0' + exponent % 10);
    return true;
}

}  // namespace

std::uint64_t Plot::elements(std::size_t level, std::size_t box) const {
    return core::checked_mul(mesh.levels[level].boxes[box].cells(), components, "ncomp");
}

std::uint64_t Plot::elements(std::size_t level) const {
    return core::checked_mul(mesh.levels[level].cells(), components, "ncomp");
}

std::vector<runner::Piece> pieces_of(const Layout& layout,
                                     const std::vector<std::span<const std::int32_t>>& owners,
                                     std::uint64_t rank) {
    std::vector<runner::Piece> pieces = rank == 0 ? layout.tables() : std::vector<runner::Piece>();
    const auto add = [&](const runner::Piece& piece) {
        if (piece.place.empty()) return;
        if (!pieces.empty() && pieces.back().object == piece.object &&
            pieces.back().place.rank() == 1 &&
            pieces.back().place.offset[0] + pieces.back().place.count[0] == piece.place.offset[0])
            pieces.back().place.count[0] += piece.place.count[0];
        else
            pieces.push_back(piece);
    };
    for (const bool points : {false, true})
        for (std::size_t level = 0; level < owners.size(); ++level)
            for (std::uint32_t box = 0; box < owners[level].size(); ++box)
                if (static_cast<std::uint64_t>(owners[level][box]) == rank)
                    add(points ? layout.of_particles(level, box) : layout.of_box(level, box));
    return pieces;
}

void check(const Plot& plot) {
    if (plot.components < 1 || plot.components > INT32_MAX)
        throw core::Error(core::Code::bad_input, std::to_string(plot.components) + " components",
                          "ncomp", "give 1 to 2147483647");
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level)
        (void)core::checked_mul(plot.elements(level), sizeof(double), "ncomp");
}

std::string numbered(const std::string& prefix, std::uint64_t number) {
    std::string digits_of = std::to_string(number);
    if (digits_of.size() < 5) digits_of.insert(0, 5 - digits_of.size(), '0');
    return prefix + digits_of;
}

void append_general(std::string& text, double value) {
    append(text, value, std::chars_format::general);
}

void append_scientific(std::string& text, double value) {
    if (!append_fraction(text, value)) append(text, value, std::chars_format::scientific);
}

void append_whole(std::string& text, std::uint64_t number) {
    std::array<char, 20> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    text.append(buffer.data(), end.ptr);
}

}  // namespace tailrace::kernels::amr
