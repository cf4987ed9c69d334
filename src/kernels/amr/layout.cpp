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

}  // namespace

std::uint64_t Plot::elements(std::size_t level, std::size_t box) const {
    return core::checked_mul(mesh.levels[level].boxes[box].cells(), components, "ncomp");
}

std::uint64_t Plot::elements(std::size_t level) const {
    return core::checked_mul(mesh.levels[level].cells(), components, "ncomp");
}

std::vector<run::Piece> pieces_of(const Layout& layout,
                                  const std::vector<std::span<const std::int32_t>>& owners,
                                  std::uint64_t rank) {
    std::vector<run::Piece> pieces = rank == 0 ? layout.tables() : std::vector<run::Piece>();
    const auto add = [&](const run::Piece& piece) {
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
    append(text, value, std::chars_format::scientific);
}

}  // namespace tailrace::kernels::amr
