// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "kernels/run/describe.hpp"
#include "kernels/run/text.hpp"

namespace tailrace::kernels::history {

using run::labelled;

namespace {

class HistoryKernel final : public run::Kernel {
public:
    HistoryKernel(Inputs inputs, MakeOpener opener)
        : x_inputs(std::move(inputs)),
          x_objects(x_inputs.objects()),
          x_make_opener(std::move(opener)) {}

    [[nodiscard]] std::string name() const override { return "history"; }
    [[nodiscard]] const run::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return x_inputs.ranks; }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.days * x_inputs.records; }
    [[nodiscard]] std::uint64_t steps_per_file() const override { return x_inputs.records; }
    [[nodiscard]] std::filesystem::path file_of(std::uint64_t step) const override {
        return x_inputs.file_of(step / x_inputs.records);
    }
    [[nodiscard]] std::unique_ptr<run::Opener> opener() const override {
        return x_make_opener ? x_make_opener() : Kernel::opener();
    }
    [[nodiscard]] core::Scalar type(std::size_t object) const override {
        return x_objects[object].type;
    }

    [[nodiscard]] core::Schema schema() const override { return schema_of(0); }
    [[nodiscard]] core::Schema schema_of(std::uint64_t step) const override {
        core::Schema schema;
        schema.objects = x_objects;
        run::describe(schema, "history", x_inputs.config, {});
        schema.attributes.push_back({"/", "ranks", core::AttributeScalar(ranks())});
        schema.attributes.push_back(
            {"/", "first_step", core::AttributeScalar(step / x_inputs.records * x_inputs.records)});
        schema.attributes.push_back(
            {"/time", "units", core::AttributeScalar(std::string("hours since 2000-01-01"))});
        return schema;
    }

    [[nodiscard]] std::vector<run::Piece> pieces(std::uint64_t rank,
                                                 std::uint64_t step) const override {
        const std::uint64_t record = step % x_inputs.records;
        const std::uint64_t first = x_inputs.first_row(rank);
        const std::uint64_t rows = x_inputs.first_row(rank + 1) - first;
        std::vector<run::Piece> all{{0, {{record}, {rank == 0 ? 1U : 0U}}}};
        for (std::size_t i = 1; i < x_objects.size(); ++i)
            if (x_objects[i].dims.size() == 4)
                all.push_back({i, {{record, 0, first, 0}, {1, x_inputs.km, rows, x_inputs.im}}});
            else
                all.push_back({i, {{record, first, 0}, {1, rows, x_inputs.im}}});
        return all;
    }
    [[nodiscard]] std::vector<run::Piece> other_pieces(std::uint64_t rank,
                                                       std::uint64_t step) const override {
        return pieces(ranks() - 1 - rank, step);
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        return {ranks()};
    }
    [[nodiscard]] std::string axes(std::size_t object) const override {
        std::string text;
        for (const std::string& axis : x_objects[object].axes)
            text += (text.empty() ? "" : ", ") + axis;
        return text;
    }

    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }
    void values(const run::Piece& piece, std::span<std::byte> values) const override {
        if (piece.place.empty()) return;
        if (piece.object == 0) {
            const double hours =
                24.0 * static_cast<double>(piece.step) / static_cast<double>(x_inputs.records);
            std::memcpy(values.data(), &hours, sizeof hours);
            return;
        }
        const bool deep = x_objects[piece.object].dims.size() == 4;
        const core::Extents& at = piece.place.offset;
        const core::Extents& count = piece.place.count;
        const std::size_t j = deep ? 2 : 1;
        auto* to = reinterpret_cast<float*>(values.data());
        for (std::uint64_t k = 0; k < (deep ? count[1] : 1); ++k)
            for (std::uint64_t row = at[j]; row < at[j] + count[j]; ++row) {
                std::uint64_t element =
                    (((deep ? at[1] : 0) + k) * x_inputs.jm + row) * x_inputs.im + at[j + 1];
                for (std::uint64_t i = 0; i < count[j + 1]; ++i)
                    *to++ = value_of(piece.object, piece.step, element++);
            }
    }

    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        std::uint64_t rows = 0;
        for (std::uint64_t rank = 0; rank < ranks(); ++rank)
            rows = std::max(rows, x_inputs.first_row(rank + 1) - x_inputs.first_row(rank));
        return 8 + rows * x_inputs.im * 4 * (x_inputs.fields_3d * x_inputs.km + x_inputs.fields_2d);
    }
    [[nodiscard]] std::uint64_t bytes() const override { return x_inputs.record_bytes() * steps(); }
    [[nodiscard]] std::uint64_t reserve_bytes() const override { return 0; }
    [[nodiscard]] core::Extents chunk(std::size_t object) const override {
        return x_inputs.chunk_of(x_objects[object]);
    }

    [[nodiscard]] std::string size_text() const override {
        return "the part of a rank of " + run::by_x({x_inputs.im, x_inputs.jm, x_inputs.km}) +
               " cells";
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "im"; }
    [[nodiscard]] std::string smaller(std::uint64_t fitting) const override {
        return "fields of " + core::bytes_text(fitting) + " per rank would fit";
    }

    [[nodiscard]] std::string echo_text() const override {
        const std::string who = !x_inputs.by_server ? "the ranks of the model, by the format"
                                : x_inputs.servers == 0
                                    ? "the model, by the server library"
                                    : std::to_string(x_inputs.servers) + " more ranks";
        return labelled("Ranks of the model", std::to_string(ranks())) +
               labelled("Written by", who) +
               labelled("Grid (im x jm x km)", run::by_x({x_inputs.im, x_inputs.jm, x_inputs.km})) +
               labelled("Fields", std::to_string(x_inputs.fields_3d) + " of 3-D, " +
                                      std::to_string(x_inputs.fields_2d) + " of 2-D, float32") +
               labelled("Files x records", run::by_x({x_inputs.days, x_inputs.records}) + ", " +
                                               core::bytes_text(x_inputs.record_bytes()) +
                                               " per record");
    }
    [[nodiscard]] std::string classic_text(const core::Record&,
                                           const run::Figures& figures) const override {
        const double steps = static_cast<double>(this->steps());
        return labelled("Stall of the model", core::seconds_text(figures.durable_s)) +
               labelled("  per record", core::seconds_text(figures.durable_s / steps)) +
               labelled("  of it at the end", core::seconds_text(figures.close_s)) +
               labelled("Computation", core::seconds_text(x_inputs.compute.seconds * (steps - 1)));
    }
    /// One copy of all records by all ranks at once, into memory that was touched before.
    [[nodiscard]] std::string closing_text(const comm::Comm& comm) const override {
        const std::size_t bytes = bytes_per_rank();
        std::vector<std::byte> from(bytes, std::byte{1}), to(bytes, std::byte{2});
        comm.barrier();
        const double start = core::now_s();
        for (std::uint64_t step = 0; step < steps(); ++step) {
            std::memcpy(to.data(), from.data(), bytes);
            from[step % bytes] = to[bytes - 1];
        }
        const double copy = comm.max(core::now_s() - start);
        return labelled("One copy in memory", core::seconds_text(copy));
    }

private:
    Inputs x_inputs;
    std::vector<core::Object> x_objects;
    MakeOpener x_make_opener;
};

}  // namespace

std::unique_ptr<run::Kernel> make_kernel(Inputs inputs, MakeOpener opener) {
    return std::make_unique<HistoryKernel>(std::move(inputs), std::move(opener));
}

}  // namespace tailrace::kernels::history
