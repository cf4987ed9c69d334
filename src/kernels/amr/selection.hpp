// SPDX-License-Identifier: Apache-2.0
// Parts of a plot file that somebody reads: a level alone, a plane, a region of space.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/amr/layout.hpp"

namespace tailrace::kernels::amr {

/// A block of physical space, lower and upper corner.
using Region = std::array<double, 6>;

struct Selection {
    std::uint64_t components;
    runner::ReadPattern pattern;  ///< level: the finest; plane: the middle along k; region
    Region region;
};

/// What a rank reads of the selection: that of the boxes that the rank before it has written; rows
/// that follow one another are one piece.  [local]
[[nodiscard]] std::vector<runner::Piece> selected(const Layout& layout, const Mesh& mesh,
                                                  const Selection& selection, std::uint64_t rank);

}  // namespace tailrace::kernels::amr
