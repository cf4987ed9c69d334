// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/kernel.hpp"

#include <utility>

#include "kernels/particle/text.hpp"
#include "runner/describe.hpp"

namespace tailrace::kernels::particle {

namespace {

class ParticleKernel final : public runner::Kernel {
public:
    explicit ParticleKernel(Inputs inputs) : x_inputs(std::move(inputs)) {}

    [[nodiscard]] std::string name() const override { return "particle"; }
    [[nodiscard]] const runner::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return geometry().ranks; }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.steps; }
    [[nodiscard]] core::Scalar type(std::size_t object) const override {
        return layout().type(object);
    }

    [[nodiscard]] core::Schema schema() const override {
        core::Schema schema;
        for (std::size_t i = 0; i < x_inputs.steps * layout().objects_per_step(); ++i) {
            schema.objects.push_back(layout().object(i));
            // netCDF has a fill value of its own for what nobody writes; everywhere else it is 0.
            const bool gaps = geometry().blocks && x_inputs.options.facts().fills_with_own;
            if (gaps) schema.objects.back().fill = {true, 0};
        }
        runner::describe(schema, "particle", x_inputs.config, {});
        schema.attributes.push_back({"/", "ranks", core::AttributeScalar(geometry().ranks)});
        return schema;
    }
    [[nodiscard]] std::size_t objects_before(std::uint64_t step) const override {
        const bool all = x_inputs.options.facts().precreate;
        const std::uint64_t steps = all ? x_inputs.steps : step + 1;
        return static_cast<std::size_t>(steps) * layout().objects_per_step();
    }

    [[nodiscard]] std::vector<runner::Piece> pieces(std::uint64_t rank,
                                                    std::uint64_t step) const override {
        return layout().pieces(step, geometry().places_of(rank));
    }
    [[nodiscard]] std::vector<runner::Piece> other_pieces(std::uint64_t rank,
                                                          std::uint64_t step) const override {
        return layout().pieces(step, geometry().other_places_of(rank));
    }
    [[nodiscard]] bool chooses(runner::ReadPattern pattern) const noexcept override {
        return pattern == runner::ReadPattern::full || pattern == runner::ReadPattern::partial ||
               pattern == runner::ReadPattern::strided;
    }
    [[nodiscard]] std::vector<runner::Piece> chosen_pieces(runner::ReadPattern pattern,
                                                           std::uint64_t rank,
                                                           std::uint64_t step) const override {
        if (pattern == runner::ReadPattern::strided)
            return layout().pieces(step, geometry().blocks_of(rank, x_inputs.blocks_to_read));
        Geometry whole = geometry();
        whole.blocks.reset();
        if (pattern == runner::ReadPattern::full)
            return layout().pieces(step, whole.places_of(rank));
        return layout().pieces(step, whole.first_of(rank, x_inputs.particles_to_read));
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        core::Extents grid = geometry().other_grid();
        if (layout().file == Pattern::interleaved) grid.push_back(1);
        return grid;
    }
    [[nodiscard]] std::string axes(std::size_t) const override { return layout().axes(); }

    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }
    void values(const runner::Piece& piece, std::span<std::byte> values) const override {
        layout().values(piece.object, piece.place, values);
    }
    [[nodiscard]] bool file_per_process() const noexcept override {
        return x_inputs.file_per_process;
    }
    [[nodiscard]] std::unique_ptr<runner::Opener> opener() const override {
        return x_inputs.file_per_process ? runner::file_per_process(x_inputs.options)
                                         : runner::one_file(x_inputs.options);
    }
    [[nodiscard]] bool rearranges() const noexcept override { return layout().rearranges(); }
    void keep(std::span<const std::byte> packed, std::span<std::byte> kept) const override {
        layout().keep(packed, kept);
    }
    void pack(std::span<const std::byte> kept, std::span<std::byte> packed) const override {
        layout().pack(kept, packed);
    }
    [[nodiscard]] bool flushes() const noexcept override { return true; }

    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        return x_inputs.bytes_per_rank();
    }
    [[nodiscard]] std::uint64_t bytes() const override { return x_inputs.bytes(); }
    [[nodiscard]] std::uint64_t reserve_bytes() const override { return x_inputs.reserve_bytes(); }
    [[nodiscard]] core::Extents chunk(std::size_t) const override {
        return x_inputs.chunk.value_or(core::Extents{});
    }

    [[nodiscard]] std::string size_text() const override {
        return runner::by_x(geometry().per_rank) + " particles per rank";
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "dim_1"; }
    [[nodiscard]] std::string smaller(std::uint64_t fitting) const override {
        std::uint64_t slab = particle_bytes * (rearranges() ? 2 : 1);
        for (std::size_t d = 1; d < geometry().per_rank.size(); ++d) slab *= geometry().per_rank[d];
        return "dim_1 " + std::to_string(fitting / slab) + " would fit";
    }

    [[nodiscard]] std::string echo_text() const override { return particle::echo_text(x_inputs); }
    [[nodiscard]] std::string classic_text(const core::Record& record,
                                           const runner::Figures& figures) const override {
        return particle::classic_text(x_inputs, record, figures);
    }

    [[nodiscard]] std::vector<runner::NamedFile> files_written() const override {
        return particle::files_written(x_inputs);
    }
    [[nodiscard]] std::vector<runner::SideFile> side_files(
        const core::Record& record, const runner::Figures& figures) const override {
        return particle::side_files(x_inputs, record, figures);
    }

private:
    [[nodiscard]] const Layout& layout() const { return x_inputs.layout; }
    [[nodiscard]] const Geometry& geometry() const { return x_inputs.layout.geometry; }

    Inputs x_inputs;
};

}  // namespace

std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs) {
    return std::make_unique<ParticleKernel>(std::move(inputs));
}

}  // namespace tailrace::kernels::particle
