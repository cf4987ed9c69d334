// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/kernel.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/units.hpp"
#include "kernels/history/collections.hpp"
#include "kernels/history/text.hpp"
#include "kernels/run/chunks.hpp"

namespace tailrace::kernels::history {

namespace {

class HistoryKernel final : public run::Kernel {
public:
    HistoryKernel(Inputs inputs, Writing writing)
        : x_inputs(std::move(inputs)),
          x_writing(std::move(writing)),
          x_meter(std::make_unique<Meter>(x_writing.watched)) {
        for (std::uint64_t step = 0; step < steps(); step += steps_per_file())
            x_first_of[file_of(step)] = step;
    }

    [[nodiscard]] std::string name() const override { return "history"; }
    [[nodiscard]] const run::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return x_inputs.geometry.ranks(); }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.steps; }
    [[nodiscard]] std::uint64_t steps_per_file() const override {
        return x_inputs.records_per_file;
    }
    [[nodiscard]] std::filesystem::path file_of(std::uint64_t step) const override {
        return x_inputs.file_of(step);
    }
    [[nodiscard]] std::unique_ptr<run::Opener> opener() const override {
        std::vector<std::unique_ptr<run::Opener>> all;
        for (std::size_t i = 0; i < x_inputs.collections; ++i)
            all.push_back(
                measured(x_writing.opener ? x_writing.opener(i) : Kernel::opener(), *x_meter));
        return together(std::move(all),
                        [this](const std::filesystem::path& first, std::size_t collection) {
                            return x_inputs.file_of(x_first_of.at(first), collection + 1);
                        });
    }
    [[nodiscard]] core::Scalar type(std::size_t object) const override {
        return x_inputs.variables[object].type();
    }

    [[nodiscard]] core::Schema schema() const override { return schema_of(0); }
    [[nodiscard]] core::Schema schema_of(std::uint64_t step) const override {
        const std::uint64_t first = step / steps_per_file() * steps_per_file();
        const std::uint64_t records = std::min(steps_per_file(), steps() - first);
        core::Schema schema;
        for (const Variable& variable : x_inputs.variables) {
            core::Object object;
            object.path = prefix(variable.collection) + "/" + variable.name;
            object.type = variable.type();
            object.axes = Geometry::axes_of(variable);
            if (variable.has_records()) {
                object.kind = core::Kind::record;
                object.dims.push_back({records, true});
            }
            for (const std::uint64_t extent : x_inputs.geometry.dims_of(variable))
                object.dims.push_back({extent, false});
            schema.objects.push_back(std::move(object));
        }
        for (std::uint64_t i = 1; i <= x_inputs.collections; ++i) describe(schema, i, first);
        return schema;
    }

    [[nodiscard]] std::vector<run::Piece> pieces(std::uint64_t rank,
                                                 std::uint64_t step) const override {
        return dealt(step, [&](const Variable& variable) {
            return x_inputs.geometry.place_of(variable, rank);
        });
    }
    [[nodiscard]] std::vector<run::Piece> other_pieces(std::uint64_t rank,
                                                       std::uint64_t step) const override {
        return dealt(step, [&](const Variable& variable) {
            return x_inputs.geometry.other_place_of(variable, rank);
        });
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        return {1, ranks(), 1, 1};
    }
    [[nodiscard]] std::string axes(std::size_t object) const override {
        std::string text;
        for (const std::string& axis : Geometry::axes_of(x_inputs.variables[object]))
            text += (text.empty() ? "" : ", ") + axis;
        return text;
    }

    [[nodiscard]] bool differs_per_step() const noexcept override { return true; }
    void values(const run::Piece& piece, std::span<std::byte> values) const override {
        const Variable& variable = x_inputs.variables[piece.object];
        core::Box place = piece.place;
        if (variable.has_records()) {
            place.offset.erase(place.offset.begin());
            place.count.erase(place.count.begin());
        }
        fill_box(x_inputs.geometry, variable, x_inputs.fields, piece.step, place, values);
    }

    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        std::uint64_t most = 0;
        for (std::uint64_t rank = 0; rank < ranks(); ++rank) {
            std::uint64_t bytes = 0;
            for (const run::Piece& piece : pieces(rank, 0))
                bytes += piece.place.volume() * core::size_of(type(piece.object));
            most = std::max(most, bytes);
        }
        return most;
    }
    [[nodiscard]] std::uint64_t bytes() const override {
        std::uint64_t bytes = 0;
        for (std::uint64_t step = 0; step < steps(); ++step) bytes += x_inputs.bytes_of_step(step);
        return bytes;
    }
    /// Of one file.
    [[nodiscard]] std::uint64_t reserve_bytes() const override {
        if (x_inputs.filtered()) return 0;
        std::uint64_t bytes = 0;
        const auto file = schema();
        for (std::size_t i = 0; i < file.objects.size(); ++i) {
            core::Extents factors = run::padded(file.objects[i].sizes(), chunk(i));
            std::uint64_t size = core::size_of(file.objects[i].type);
            for (const std::uint64_t factor : factors) size *= factor;
            bytes += size;
        }
        return bytes;
    }
    [[nodiscard]] core::Extents chunk(std::size_t object) const override {
        return x_inputs.chunk_of(x_inputs.variables[object]);
    }

    [[nodiscard]] std::string size_text() const override {
        const Geometry& grid = x_inputs.geometry;
        return "the part of a rank of a step of " + std::to_string(x_inputs.fields) +
               " fields on a grid of " + run::by_x({grid.im, grid.jm, grid.km});
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "km"; }
    [[nodiscard]] std::string smaller(std::uint64_t fitting) const override {
        return "choose fewer levels or fields: " + core::bytes_text(fitting) + " would fit";
    }
    [[nodiscard]] std::string smaller_file(std::uint64_t fitting) const override {
        return "a file of " + core::bytes_text(fitting) +
               " would fit: choose fewer levels, fields or records_per_file";
    }

    [[nodiscard]] std::string echo_text() const override { return history::echo_text(x_inputs); }
    [[nodiscard]] std::string classic_text(const core::Record& record,
                                           const run::Figures& figures) const override {
        return history::classic_text(x_inputs, record, figures);
    }
    void add_figures(const comm::Comm& comm, core::Record& record) const override {
        record.serving = x_meter->serving(comm, bytes_per_rank());
        x_meter->add_to(comm, record.steps);
        if (x_writing.tell) x_writing.tell(comm, *record.serving);
    }

private:
    template <class PlaceOf>
    [[nodiscard]] std::vector<run::Piece> dealt(std::uint64_t step, const PlaceOf& place_of) const {
        const std::uint64_t record = step % steps_per_file();
        std::vector<run::Piece> pieces;
        for (std::size_t i = 0; i < x_inputs.variables.size(); ++i) {
            const Variable& variable = x_inputs.variables[i];
            if (!variable.has_records() && record != 0) continue;
            core::Box place = place_of(variable);
            if (variable.has_records()) {
                const bool none = variable.role == Role::time
                                      ? place_of(x_inputs.variables[1]).empty()
                                      : place.empty();
                place.offset.insert(place.offset.begin(), record);
                place.count.insert(place.count.begin(), none ? 0 : 1);
            }
            pieces.push_back({i, std::move(place), step});
        }
        return pieces;
    }

    /// What follows from neither who writes nor how: the files of all arms are the same.
    void describe(core::Schema& schema, std::uint64_t collection, std::uint64_t first) const {
        const auto add = [&](const std::string& object, const char* name,
                             core::AttributeScalar value) {
            schema.attributes.push_back(
                {prefix(collection) + object, name, std::move(value), true});
        };
        const auto number = [&](const char* name, std::uint64_t value) {
            add("/", name, static_cast<std::int64_t>(value));
        };
        add("/", "kernel", std::string("history"));
        add("/", "schema", std::string("tailrace-history/1"));
        const core::Config& config = x_inputs.config;
        for (const char* key : {"im", "jm", "km", "fields_2d", "fields_3d", "extra_2d",
                                "collections", "days", "records_per_day"})
            number(key, config.number(key));
        number("collection", collection);
        number("records_per_file", x_inputs.records_per_file);
        number("first_step", first);
        number("ranks", ranks());
        number("ranks_along_lat", x_inputs.geometry.ny);
        number("ranks_along_lon", x_inputs.geometry.nx);
        add("/time", "units", std::string("minutes since 2000-01-01 00:00:00"));
        add("/lev", "units", std::string("layer"));
        add("/lat", "units", std::string("degrees_north"));
        add("/lon", "units", std::string("degrees_east"));
    }

    [[nodiscard]] std::string prefix(std::uint64_t collection) const {
        return prefix_of(collection, x_inputs.collections);
    }

    Inputs x_inputs;
    Writing x_writing;
    std::unique_ptr<Meter> x_meter;
    std::map<std::filesystem::path, std::uint64_t> x_first_of;  ///< step, per file of collection 1
};

}  // namespace

std::unique_ptr<run::Kernel> make_kernel(Inputs inputs, Writing writing) {
    return std::make_unique<HistoryKernel>(std::move(inputs), std::move(writing));
}

}  // namespace tailrace::kernels::history
