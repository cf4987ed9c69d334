// SPDX-License-Identifier: Apache-2.0
// The values of the elements, from their position alone: so that any rank can write them and any
// other can check them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/box.hpp"
#include "core/error.hpp"
#include "core/splitmix.hpp"
#include "kernels/seism/geometry.hpp"
#include "kernels/seism/plugin.hpp"

namespace tailrace::kernels::seism {

/// rank: the owner's rank. position: a number in [0, 1) that differs per element and step.
/// plugin: what a fill function says.
enum class FillKind { rank, position, plugin };

/// "rank", "position" or "plugin".  [local]
[[nodiscard]] std::string_view name(FillKind kind) noexcept;

/// Value of `fill position` for the element with row-major index `index` in (time, x, y, z): the
/// upper 24 bits of the SplitMix64 finaliser of index, as a fraction; exact in float32.  [local]
[[nodiscard]] constexpr float position_value(std::uint64_t index) noexcept {
    return static_cast<float>(core::mixed_index(index) >> 40) * 0x1p-24F;
}

class Fill {
public:
    virtual ~Fill() = default;
    /// False where all steps hold the same values.  [local]
    [[nodiscard]] virtual bool differs_per_step() const noexcept { return false; }
    /// The first failure of row(), which gives zeros from then on. It is kept and not thrown: rows
    /// are asked for between collective calls, which all ranks must make.  [local]
    [[nodiscard]] virtual std::optional<core::Error> failure() const { return std::nullopt; }
    /// Whether failure() may ever say something.  [local]
    [[nodiscard]] virtual bool may_fail() const noexcept { return false; }
    /// Values of `count` elements of a row along z, from global position (step, x, y, z).  [local]
    virtual void row(std::uint64_t step, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                     std::span<float> values) const = 0;
    /// Values of a 4-D box, packed row-major.  [local]
    void values(const core::Box& place, std::span<float> values) const;
};

/// @throws core::Error{Code::bad_plugin}  [local]
[[nodiscard]] std::unique_ptr<Fill> make_fill(FillKind kind, const Geometry& geometry,
                                              const PluginCall& call);

}  // namespace tailrace::kernels::seism
