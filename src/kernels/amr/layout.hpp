// SPDX-License-Identifier: Apache-2.0
// What the layouts of a plot file have in common: who writes which piece of which object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/schema.hpp"
#include "core/sink.hpp"
#include "kernels/amr/mesh.hpp"

namespace tailrace::kernels::amr {

struct Plot {
    const Mesh& mesh;
    std::uint64_t components = 1;
    std::uint64_t step = 0;
    double time = 0;

    [[nodiscard]] static std::string component(std::uint64_t number) {
        return "component_" + std::to_string(number);
    }
    /// Elements of all components of a box.  [local]
    [[nodiscard]] std::uint64_t elements(std::size_t level, std::size_t box) const;
    [[nodiscard]] std::uint64_t elements(std::size_t level) const;  ///< of all boxes  [local]
};

/// A piece that a rank writes: bytes that are here, or the values or particles of boxes, one box
/// behind the other.
struct Part {
    enum class Holds { bytes, values, particles };

    std::size_t object = 0;  ///< index into the objects of the schema
    core::Box place;
    core::Scalar type = core::Scalar::u8;  ///< in memory
    Holds holds = Holds::bytes;
    std::vector<std::byte> bytes{};
    std::size_t level = 0;
    std::vector<std::uint32_t> boxes{};  ///< of that level

    /// The piece, with its data at `data`, or those that are here.  [local]
    [[nodiscard]] core::Write write(core::ObjectId id, const std::byte* data = nullptr) const;
};

/// @throws core::Error{bad_input}  [local]
void check(const Plot& plot);

/// "x_00012", as AMReX counts files.  [local]
[[nodiscard]] std::string numbered(const std::string& prefix, std::uint64_t number);

/// %.17g and %.17e.  [local]
void append_general(std::string& text, double value);
void append_scientific(std::string& text, double value);

}  // namespace tailrace::kernels::amr
