// SPDX-License-Identifier: Apache-2.0
// What the layouts of a plot file have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/schema.hpp"
#include "kernels/amr/mesh.hpp"
#include "runner/kernel.hpp"

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

/// One layout of a plot file: its objects, and where in them everything lies. No I/O.
class Layout {
public:
    virtual ~Layout() = default;
    [[nodiscard]] virtual core::Schema schema() const = 0;  ///< [local]
    /// Where a box lies, and how many bytes of it precede its values there.  [local]
    [[nodiscard]] virtual runner::Piece of_box(std::size_t level, std::uint32_t box) const = 0;
    [[nodiscard]] virtual std::uint64_t head_bytes(std::size_t level, std::uint32_t box) const = 0;
    /// Where the particles of a box lie; an empty place if there are none.  [local]
    [[nodiscard]] virtual runner::Piece of_particles(std::size_t level,
                                                     std::uint32_t box) const = 0;
    /// What one rank writes for all.  [local]
    [[nodiscard]] virtual std::vector<runner::Piece> tables() const = 0;
    /// What any place of all these holds, packed.  [local]
    virtual void values(std::size_t object, const core::Box& place,
                        std::span<std::byte> bytes) const = 0;
};

/// What a rank holds: its boxes level by level, its particles, and the tables on rank 0; pieces
/// that touch are one.  [local]
/// @param owners  by level: the rank of each box
[[nodiscard]] std::vector<runner::Piece> pieces_of(
    const Layout& layout, const std::vector<std::span<const std::int32_t>>& owners,
    std::uint64_t rank);

/// @throws core::Error{bad_input}  [local]
void check(const Plot& plot);

/// "x_00012", as AMReX counts files.  [local]
[[nodiscard]] std::string numbered(const std::string& prefix, std::uint64_t number);

/// %.17g and %.17e.  [local]
void append_general(std::string& text, double value);
void append_scientific(std::string& text, double value);
void append_whole(std::string& text, std::uint64_t number);

}  // namespace tailrace::kernels::amr
