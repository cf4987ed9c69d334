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

core::Write Part::write(core::ObjectId id, const std::byte* data) const {
    return {id, place, data != nullptr ? data : bytes.data(), {}, type};
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
