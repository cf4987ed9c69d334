// SPDX-License-Identifier: Apache-2.0
#include "kernels/slab/kernel.hpp"

#include <algorithm>
#include <utility>

#include "kernels/slab/fill.hpp"
#include "kernels/slab/text.hpp"
#include "runner/describe.hpp"

namespace tailrace::kernels::slab {

namespace {

/// A number that a person would type: two digits and zeros.
std::uint64_t rounded_down(std::uint64_t number) {
    std::uint64_t scale = 1;
    while (number / scale >= 100) scale *= 10;
    return number / scale * scale;
}

class SlabKernel final : public runner::Kernel {
public:
    explicit SlabKernel(Inputs inputs) : x_inputs(std::move(inputs)) {}

    [[nodiscard]] std::string name() const override { return "slab"; }
    [[nodiscard]] const runner::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return x_inputs.geometry.ranks; }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.axes.size(); }
    [[nodiscard]] core::Scalar type(std::size_t) const override { return core::Scalar::f64; }

    [[nodiscard]] core::Schema schema() const override {
        core::Schema schema;
        for (Axis axis : x_inputs.axes) {
            core::Object object;
            object.path = Inputs::path_of(axis);
            object.type = core::Scalar::f64;
            for (std::uint64_t extent : x_inputs.geometry.dims(axis))
                object.dims.push_back({extent, false});
            schema.objects.push_back(std::move(object));
        }
        runner::describe(schema, "slab", x_inputs.config, {});
        schema.attributes.push_back({"/", "ranks", core::AttributeScalar(x_inputs.geometry.ranks)});
        return schema;
    }

    [[nodiscard]] std::vector<runner::Piece> pieces(std::uint64_t rank,
                                                    std::uint64_t step) const override {
        return {{step, x_inputs.geometry.place_of(x_inputs.axes[step], rank)}};
    }
    [[nodiscard]] std::vector<runner::Piece> other_pieces(std::uint64_t rank,
                                                          std::uint64_t step) const override {
        return {{step, x_inputs.geometry.reading_place_of(x_inputs.axes[step], rank)}};
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        std::vector<std::uint64_t> grid{1, 1};
        grid[x_inputs.geometry.reading_axis(x_inputs.axes.front())] = ranks();
        return grid;
    }
    [[nodiscard]] std::string axes(std::size_t object) const override {
        return x_inputs.axes[object] == Axis::long_fast ? "short, long" : "long, short";
    }

    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }
    void values(const runner::Piece& piece, std::span<std::byte> values) const override {
        fill_box(x_inputs, piece.object, piece.place,
                 {reinterpret_cast<double*>(values.data()), values.size() / sizeof(double)});
    }

    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        std::uint64_t most = 0;
        for (Axis axis : x_inputs.axes)
            most = std::max(most, x_inputs.geometry.bytes_per_rank(axis));
        return most;
    }
    [[nodiscard]] std::uint64_t bytes() const override {
        return x_inputs.geometry.elements() * element_bytes * x_inputs.axes.size();
    }
    [[nodiscard]] std::uint64_t reserve_bytes() const override { return x_inputs.reserve_bytes(); }
    [[nodiscard]] core::Extents chunk(std::size_t object) const override {
        return x_inputs.chunk_of(x_inputs.axes[object]);
    }

    [[nodiscard]] std::string size_text() const override {
        return "the part of a rank of " +
               runner::by_x({x_inputs.geometry.n1, x_inputs.geometry.n2}) + " elements";
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "n1"; }
    [[nodiscard]] std::string smaller(std::uint64_t fitting) const override {
        // The greatest n1 whose largest part fits, for each axis that is written.
        std::uint64_t n1 = UINT64_MAX;
        const std::uint64_t columns = (x_inputs.geometry.n2 + ranks() - 1) / ranks();
        for (Axis axis : x_inputs.axes)
            n1 = std::min(n1, axis == Axis::short_split
                                  ? fitting / element_bytes / columns
                                  : fitting / element_bytes / x_inputs.geometry.n2 * ranks());
        return fitting_n1(n1);
    }
    [[nodiscard]] std::string smaller_file(std::uint64_t fitting) const override {
        // The padding of chunks shrinks with n1 no faster than it.
        const double share = static_cast<double>(fitting) /
                             static_cast<double>(std::max(bytes(), x_inputs.reserve_bytes()));
        return fitting_n1(
            static_cast<std::uint64_t>(static_cast<double>(x_inputs.geometry.n1) * share));
    }

    [[nodiscard]] std::string echo_text() const override { return slab::echo_text(x_inputs); }
    [[nodiscard]] std::string classic_text(const core::Record& record,
                                           const runner::Figures& figures) const override {
        return slab::classic_text(x_inputs, record, figures);
    }

private:
    /// With some room left for everything else.
    [[nodiscard]] std::string fitting_n1(std::uint64_t most) const {
        const std::uint64_t fits = rounded_down(most / 10 * 9);
        if (fits == 0) return "choose a smaller n2";
        if (x_inputs.chunk && fits < (*x_inputs.chunk)[0])
            return "n1 " + std::to_string(fits) + " would fit, with a chunk no longer than that";
        return "n1 " + std::to_string(fits) + " would fit";
    }

    Inputs x_inputs;
};

}  // namespace

std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs) {
    return std::make_unique<SlabKernel>(std::move(inputs));
}

}  // namespace tailrace::kernels::slab
