// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "core/units.hpp"
#include "formats/keys.hpp"
#include "kernels/amr/layout.hpp"
#include "kernels/amr/native.hpp"
#include "kernels/amr/selection.hpp"
#include "kernels/amr/shared.hpp"
#include "kernels/amr/text.hpp"

namespace tailrace::kernels::amr {

namespace {

/// What the outputs of a run share.
struct World {
    World(Mesh all, const Inputs& inputs)
        : mesh(std::move(all)),
          fill(mesh, inputs.components),
          particles(mesh, inputs.per_cell),
          readers((mesh.ranks + 1) / 2) {
        for (const Level& level : mesh.levels) {
            owners.emplace_back(level.owners);
            reading.push_back(distribute(level.boxes, inputs.mesh.distribution, readers));
        }
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Mesh mesh;
    Fill fill;
    Particles particles;
    std::uint64_t readers;  ///< ranks that restart from the file
    std::vector<std::span<const std::int32_t>> owners;
    std::vector<std::vector<std::int32_t>> reading;
    Profile profile;
};

class PlotKernel : public runner::Kernel {
public:
    PlotKernel(Inputs inputs, std::shared_ptr<World> world)
        : x_inputs(std::move(inputs)), x_world(std::move(world)) {}

    [[nodiscard]] std::string name() const override { return "amr"; }
    [[nodiscard]] const runner::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return x_world->mesh.ranks; }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.steps; }
    [[nodiscard]] std::uint64_t steps_per_file() const override { return 1; }
    [[nodiscard]] std::filesystem::path file_of(std::uint64_t step) const override {
        return of_step(x_inputs.filename, step, x_inputs.steps, !x_inputs.shared_output);
    }
    [[nodiscard]] core::Schema schema() const override { return layout(0).schema(); }
    [[nodiscard]] core::Schema schema_of(std::uint64_t step) const override {
        return layout(step).schema();
    }
    [[nodiscard]] core::Scalar type(std::size_t object) const override { return x_types[object]; }
    [[nodiscard]] std::vector<runner::Piece> pieces(std::uint64_t rank,
                                                    std::uint64_t) const override {
        if (!x_mine || x_mine->first != rank)
            x_mine.emplace(rank, pieces_of(layout(0), x_world->owners, rank));
        return x_mine->second;
    }
    /// A restart on half as many ranks.
    [[nodiscard]] std::vector<runner::Piece> other_pieces(std::uint64_t rank,
                                                          std::uint64_t) const override {
        if (rank >= x_world->readers) return {};
        return pieces_of(layout(0), {x_world->reading.begin(), x_world->reading.end()}, rank);
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        return {x_world->readers};
    }
    [[nodiscard]] bool chooses(runner::ReadPattern pattern) const noexcept override {
        return pattern == runner::ReadPattern::plane || pattern == runner::ReadPattern::level ||
               pattern == runner::ReadPattern::region;
    }
    [[nodiscard]] std::vector<runner::Piece> chosen_pieces(runner::ReadPattern pattern,
                                                           std::uint64_t rank,
                                                           std::uint64_t) const override {
        return selected(layout(0), x_world->mesh, {x_inputs.components, pattern, x_inputs.region},
                        rank);
    }
    [[nodiscard]] std::string axes(std::size_t object) const override {
        return x_types[object] == core::Scalar::u8 ? "byte" : "element";
    }

    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }
    void values(const runner::Piece& piece, std::span<std::byte> values) const override {
        layout(piece.step).values(piece.object, piece.place, values);
    }
    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        return *std::ranges::max_element(x_rank_bytes);
    }
    [[nodiscard]] std::uint64_t bytes() const override {
        std::uint64_t all = 0;
        for (const std::uint64_t bytes : x_rank_bytes) all += bytes;
        return runner::product(x_inputs.config, "steps", {all, x_inputs.steps});
    }
    [[nodiscard]] std::uint64_t reserve_bytes() const override {
        if (x_inputs.filtered()) return 0;
        std::uint64_t all = 0;
        for (const core::Object& object : schema().objects) all += object.bytes();
        return all;
    }
    [[nodiscard]] core::Extents chunk(std::size_t) const override { return {}; }

    [[nodiscard]] std::string size_text() const override {
        return "the boxes of a rank of " + cells_text(x_world->mesh) + " with " +
               std::to_string(x_inputs.components) + " components";
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "ncells"; }
    [[nodiscard]] std::string smaller(std::uint64_t fitting) const override {
        return shrunk(static_cast<double>(fitting) /
                      static_cast<double>(std::max<std::uint64_t>(bytes_per_rank(), 1)));
    }
    [[nodiscard]] std::string smaller_file(std::uint64_t fitting) const override {
        return shrunk(static_cast<double>(fitting) /
                      static_cast<double>(std::max<std::uint64_t>(reserve_bytes(), 1)));
    }
    [[nodiscard]] std::vector<runner::NamedFile> files_read() const override {
        std::vector<runner::NamedFile> files;
        if (!x_inputs.grids.empty())
            for (std::uint64_t level = 0; level < x_inputs.mesh.levels; ++level)
                files.push_back(
                    {"grids_from_file", "the boxes of a level", grid_file(x_inputs, level)});
        return files;
    }
    [[nodiscard]] std::string echo_text() const override {
        return amr::echo_text(x_inputs, x_world->mesh, x_world->particles.count());
    }
    [[nodiscard]] std::string closing_text(const comm::Comm& comm) const override {
        return x_world->profile.text(comm);
    }

protected:
    [[nodiscard]] virtual std::unique_ptr<Layout> make_layout(std::uint64_t step) const = 0;

    /// Of a step; that of the first one is kept, and the last one that was asked for.
    [[nodiscard]] const Layout& layout(std::uint64_t step) const {
        if (step == 0) {
            if (!x_first) x_first = make_layout(0);
            return *x_first;
        }
        if (!x_layout || x_layout->first != step) x_layout.emplace(step, make_layout(step));
        return *x_layout->second;
    }
    [[nodiscard]] Plot plot(std::uint64_t step) const {
        return {x_world->mesh, x_inputs.components, step, static_cast<double>(step)};
    }
    /// What does not change with the step; of a complete kernel.
    void prepare() {
        const core::Schema found = schema();
        for (const core::Object& object : found.objects) x_types.push_back(object.type);
        x_rank_bytes.assign(static_cast<std::size_t>(ranks()), 0);
        const auto add = [&](std::int32_t owner, const runner::Piece& piece) {
            if (!piece.place.empty())
                x_rank_bytes[static_cast<std::size_t>(owner)] +=
                    piece.place.volume() * core::size_of(x_types[piece.object]);
        };
        for (const runner::Piece& table : layout(0).tables()) add(0, table);
        for (std::size_t level = 0; level < x_world->owners.size(); ++level)
            for (std::uint32_t box = 0; box < x_world->owners[level].size(); ++box) {
                add(x_world->owners[level][box], layout(0).of_box(level, box));
                add(x_world->owners[level][box], layout(0).of_particles(level, box));
            }
    }

    Inputs x_inputs;
    std::shared_ptr<World> x_world;

private:
    [[nodiscard]] std::string shrunk(double share) const {
        const auto cells =
            static_cast<std::uint64_t>(x_inputs.mesh.cells[0] * std::cbrt(share) * 0.95);
        return cells == 0 ? "choose fewer components"
                          : "ncells " + std::to_string(cells) + " would fit";
    }

    std::vector<core::Scalar> x_types;        ///< by object
    std::vector<std::uint64_t> x_rank_bytes;  ///< of a step
    mutable std::unique_ptr<Layout> x_first;
    mutable std::optional<std::pair<std::uint64_t, std::unique_ptr<Layout>>> x_layout;
    mutable std::optional<std::pair<std::uint64_t, std::vector<runner::Piece>>> x_mine;
};

class SharedKernel final : public PlotKernel {
public:
    SharedKernel(Inputs inputs, std::shared_ptr<World> world)
        : PlotKernel(std::move(inputs), std::move(world)) {
        prepare();
        put_chunks();
    }
    [[nodiscard]] std::size_t batches() const noexcept override { return 2; }
    [[nodiscard]] std::size_t batch_of(std::size_t object) const noexcept override {
        return SharedLayout::is_data(object) ? 1 : 0;
    }
    [[nodiscard]] core::Extents chunk(std::size_t object) const override {
        return x_chunks.empty() ? core::Extents() : x_chunks[object];
    }
    [[nodiscard]] std::string classic_text(const core::Record&,
                                           const runner::Figures& figures) const override {
        x_world->profile.add_shared(x_inputs.config.text("format"), figures);
        return shared_text(x_inputs, figures);
    }

private:
    [[nodiscard]] std::unique_ptr<Layout> make_layout(std::uint64_t step) const override {
        const Plot now = plot(step);
        const bool groups = x_inputs.config.text("format") == "hdf5";
        return std::make_unique<SharedLayout>(now, x_world->fill,
                                              groups ? hdf5_schema(now) : pnetcdf_schema(now));
    }

    /// Filters work on chunks: of whole boxes, as many as make a chunk worth its overhead.
    void put_chunks() {
        if (!x_inputs.options.facts().needs_chunks) return;
        const core::Schema found = schema();
        for (std::size_t object = 0; object < found.objects.size(); ++object) {
            x_chunks.push_back(found.objects[object].sizes());
            if (SharedLayout::is_data(object)) x_chunks.back() = {filtered_chunk(plot(0), object)};
            x_inputs.options.set_chunk(found.objects[object].path, x_chunks.back());
        }
    }

    std::vector<core::Extents> x_chunks;  ///< by object; empty: contiguous
};

class NativeKernel final : public PlotKernel {
public:
    NativeKernel(Inputs inputs, std::shared_ptr<World> world)
        : PlotKernel(std::move(inputs), std::move(world)) {
        prepare();
    }
    [[nodiscard]] std::unique_ptr<runner::Opener> opener() const override {
        return runner::folder("Header");
    }
    [[nodiscard]] std::size_t batches() const noexcept override { return 3; }
    [[nodiscard]] std::size_t batch_of(std::size_t object) const noexcept override {
        switch (native(0).holds(object)) {
            case NativeLayout::Holds::cells:
                return 0;
            case NativeLayout::Holds::particles:
                return 1;
            case NativeLayout::Holds::text:
                break;
        }
        return 2;
    }
    [[nodiscard]] bool has_late_pieces() const noexcept override { return true; }
    [[nodiscard]] bool is_late(std::size_t object) const noexcept override {
        return batch_of(object) == 2;
    }
    /// The texts, with the smallest and the largest value of each box.
    [[nodiscard]] std::vector<runner::LatePiece> late_pieces(const comm::Comm& comm,
                                                             std::uint64_t step,
                                                             std::span<const std::byte> data,
                                                             runner::Laps& laps) const override;
    [[nodiscard]] std::string classic_text(const core::Record&,
                                           const runner::Figures& figures) const override {
        x_world->profile.add_native(figures, x_inputs.particle_output);
        return {};
    }

private:
    [[nodiscard]] std::unique_ptr<Layout> make_layout(std::uint64_t step) const override {
        return std::make_unique<NativeLayout>(
            plot(step), x_world->fill, x_inputs.particle_output ? &x_world->particles : nullptr,
            x_inputs.files);
    }
    [[nodiscard]] const NativeLayout& native(std::uint64_t step) const {
        return dynamic_cast<const NativeLayout&>(layout(step));
    }
    [[nodiscard]] std::vector<Extremes> extremes_of_share(const comm::Comm& comm,
                                                          const Share& share,
                                                          std::span<const std::byte> data,
                                                          runner::Laps& laps) const;
};

/// By level, of the boxes whose rows this rank makes: their owners send them.
std::vector<Extremes> NativeKernel::extremes_of_share(const comm::Comm& comm, const Share& share,
                                                      std::span<const std::byte> data,
                                                      runner::Laps& laps) const {
    const double start = core::now_s();
    std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(comm.size()));
    for (std::size_t level = 0; level < x_world->owners.size(); ++level)
        for (std::uint32_t box = 0; box < x_world->owners[level].size(); ++box) {
            if (x_world->owners[level][box] != comm.rank()) continue;
            const auto head = static_cast<std::size_t>(layout(0).head_bytes(level, box));
            const auto bytes =
                static_cast<std::size_t>(plot(0).elements(level, box) * sizeof(double));
            const Extremes found = extremes_of(data.subspan(head, bytes), x_inputs.components);
            auto& letter = to[Share::owner(box, x_world->owners[level].size(), share.ranks)];
            for (const auto* numbers : {&found.least, &found.most}) {
                const auto all = std::as_bytes(std::span(*numbers));
                letter.insert(letter.end(), all.begin(), all.end());
            }
            data = data.subspan(head + bytes);
        }
    laps.add("extremes", core::now_s() - start);
    const std::vector<std::vector<std::byte>> letters = comm.exchange(to);
    std::vector<std::size_t> at(letters.size(), 0);
    std::vector<Extremes> extremes;
    const auto components = static_cast<std::size_t>(x_inputs.components);
    for (const auto& owners : x_world->owners) {
        extremes.emplace_back();
        const std::size_t first = share.first(owners.size());
        for (const std::int32_t owner : owners.subspan(first, share.of(owners.size())))
            for (auto* numbers : {&extremes.back().least, &extremes.back().most}) {
                const auto from = static_cast<std::size_t>(owner);
                numbers->resize(numbers->size() + components);
                std::memcpy(numbers->data() + numbers->size() - components,
                            letters[from].data() + at[from], components * sizeof(double));
                at[from] += components * sizeof(double);
            }
    }
    return extremes;
}

std::vector<runner::LatePiece> NativeKernel::late_pieces(const comm::Comm& comm, std::uint64_t step,
                                                         std::span<const std::byte> data,
                                                         runner::Laps& laps) const {
    const Share share{static_cast<std::uint64_t>(comm.rank()), native(step).text_ranks()};
    const std::vector<Extremes> extremes = extremes_of_share(comm, share, data, laps);
    const double start = core::now_s();
    std::vector<runner::LatePiece> texts;
    comm.agree_on([&] { texts = native(step).texts(share, extremes); });
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(share.ranks) * texts.size(), 0);
    for (std::size_t part = 0; share.rank < share.ranks && part < texts.size(); ++part)
        sizes[static_cast<std::size_t>(share.rank) * texts.size() + part] =
            texts[part].bytes.size();
    comm.reduce(sizes, comm::Reduce::sum);
    comm.agree_on([&] { native(step).put_in_place(texts, share, sizes); });
    laps.add("texts", core::now_s() - start);
    return texts;
}

std::vector<std::string> read_grids(const Inputs& inputs) {
    std::vector<std::string> texts;
    if (inputs.grids.empty()) return texts;
    for (std::uint64_t level = 0; level < inputs.mesh.levels; ++level)
        texts.push_back(text_of_file(inputs, grid_file(inputs, level)));
    return texts;
}

}  // namespace

runner::Outputs make_outputs(const Inputs& inputs) {
    const double start = core::now_s();
    const auto world = std::make_shared<World>(mesh_of(inputs, read_grids(inputs)), inputs);
    world->profile.begin(start);
    runner::Outputs outputs;
    if (inputs.shared_output) outputs.push_back(std::make_unique<SharedKernel>(inputs, world));
    if (inputs.native_output)
        outputs.push_back(std::make_unique<NativeKernel>(native_inputs(inputs), world));
    return outputs;
}

}  // namespace tailrace::kernels::amr
