// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/fill.hpp"

#include <algorithm>

namespace tailrace::kernels::seism {

namespace {

class RankFill final : public Fill {
public:
    explicit RankFill(const Geometry& geometry) : x_geometry(geometry) {}

    void row(std::uint64_t, std::uint64_t x, std::uint64_t y, std::uint64_t z,
             std::span<float> values) const override {
        const core::Extents& domain = x_geometry.domain;
        while (!values.empty()) {
            const std::uint64_t k = z / domain[2];
            const std::uint64_t owner = x_geometry.owner_of(x / domain[0], y / domain[1], k);
            const std::size_t here = static_cast<std::size_t>(
                std::min<std::uint64_t>((k + 1) * domain[2] - z, values.size()));
            std::fill_n(values.begin(), here, static_cast<float>(owner));
            values = values.subspan(here);
            z += here;
        }
    }

private:
    Geometry x_geometry;
};

class PositionFill final : public Fill {
public:
    explicit PositionFill(const Geometry& geometry) : x_slice(geometry.slice()) {}
    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }

    void row(std::uint64_t step, std::uint64_t x, std::uint64_t y, std::uint64_t z,
             std::span<float> values) const override {
        const std::uint64_t first = ((step * x_slice[0] + x) * x_slice[1] + y) * x_slice[2] + z;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = position_value(first + i);
    }

private:
    core::Extents x_slice;
};

class PluginFill final : public Fill {
public:
    PluginFill(const Geometry& geometry, const PluginCall& call)
        : x_geometry(geometry), x_plugin(call) {}

    [[nodiscard]] bool may_fail() const noexcept override { return true; }
    [[nodiscard]] std::optional<core::Error> failure() const override { return x_failure; }

    void row(std::uint64_t, std::uint64_t x, std::uint64_t y, std::uint64_t z,
             std::span<float> values) const override {
        std::fill(values.begin(), values.end(), 0.0F);
        if (x_failure) return;
        try {
            call(x, y, z, values);
        } catch (const core::Error& error) {
            x_failure = error;
        }
    }

private:
    void call(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::span<float> values) const {
        const core::Extents& domain = x_geometry.domain;
        std::uint64_t block[3] = {x / domain[0], y / domain[1], z / domain[2]};
        std::uint64_t position[3] = {x % domain[0], y % domain[1], z % domain[2]};
        for (float& value : values) {
            const auto owner = static_cast<int>(x_geometry.owner_of(block[0], block[1], block[2]));
            value =
                x_plugin.value(owner, x_geometry.processor.data(), domain.data(), block, position);
            if (++position[2] == domain[2]) {
                position[2] = 0;
                ++block[2];
            }
        }
    }

    Geometry x_geometry;
    Plugin x_plugin;
    mutable std::optional<core::Error> x_failure;
};

}  // namespace

std::string_view name(FillKind kind) noexcept {
    switch (kind) {
        case FillKind::rank:
            return "rank";
        case FillKind::position:
            return "position";
        case FillKind::plugin:
            return "plugin";
    }
    return "rank";
}

void Fill::values(const core::Box& place, std::span<float> values) const {
    if (place.empty()) return;
    const core::Extents& at = place.offset;
    const core::Extents& n = place.count;
    for (std::uint64_t t = 0; t < n[0]; ++t)
        for (std::uint64_t x = 0; x < n[1]; ++x)
            for (std::uint64_t y = 0; y < n[2]; ++y) {
                const auto length = static_cast<std::size_t>(n[3]);
                row(at[0] + t, at[1] + x, at[2] + y, at[3], values.first(length));
                values = values.subspan(length);
            }
}

std::unique_ptr<Fill> make_fill(FillKind kind, const Geometry& geometry, const PluginCall& call) {
    switch (kind) {
        case FillKind::rank:
            return std::make_unique<RankFill>(geometry);
        case FillKind::position:
            return std::make_unique<PositionFill>(geometry);
        case FillKind::plugin:
            return std::make_unique<PluginFill>(geometry, call);
    }
    return nullptr;
}

}  // namespace tailrace::kernels::seism
