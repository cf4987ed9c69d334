// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/fill.hpp"

#include <algorithm>
#include <cstring>

#include "core/checked.hpp"
#include "core/splitmix.hpp"

namespace tailrace::kernels::amr {

namespace {

constexpr std::uint64_t numbers_of_a_particle = 3 + particle_reals + particle_ints;

/// Calls visit(cell) for all cells of a box, i fastest.
template <class Visit>
void each_cell(const CellBox& box, Visit&& visit) {
    Cell cell;
    for (cell[2] = box.lo[2]; cell[2] <= box.hi[2]; ++cell[2])
        for (cell[1] = box.lo[1]; cell[1] <= box.hi[1]; ++cell[1])
            for (cell[0] = box.lo[0]; cell[0] <= box.hi[0]; ++cell[0]) visit(cell);
}

/// Number of a cell in its box, i fastest.
std::size_t within(const CellBox& box, const Cell& cell) {
    return static_cast<std::size_t>(
        ((cell[2] - box.lo[2]) * box.length(1) + (cell[1] - box.lo[1])) * box.length(0) +
        (cell[0] - box.lo[0]));
}

void put_number(std::span<std::byte> bytes, std::size_t& at, std::int32_t value) {
    std::memcpy(&bytes[at], &value, sizeof value);
    at += sizeof value;
}

void put_real(std::span<std::byte> bytes, std::size_t& at, double value) {
    std::memcpy(&bytes[at], &value, sizeof value);
    at += sizeof value;
}

}  // namespace

Fill::Fill(const Mesh& mesh, std::uint64_t components) : x_components(components) {
    for (const Level& level : mesh.levels) {
        x_domains.push_back(level.domain);
        x_first.push_back(x_per_step);
        x_per_step += level.domain.cells() * components;
    }
}

std::uint64_t Fill::number(std::uint64_t step, std::size_t level, std::uint64_t component,
                           const Cell& cell) const noexcept {
    const CellBox& domain = x_domains[level];
    const auto extent = [&](std::size_t d) { return static_cast<std::uint64_t>(domain.length(d)); };
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(cell[d]); };
    return step * x_per_step + x_first[level] +
           ((component * extent(2) + at(2)) * extent(1) + at(1)) * extent(0) + at(0);
}

void Fill::values(std::uint64_t step, std::size_t level, const CellBox& box,
                  std::span<double> values, std::uint64_t first) const {
    const auto length = static_cast<std::uint64_t>(box.length(0));
    const auto rows = static_cast<std::uint64_t>(box.length(1));
    const auto planes = static_cast<std::uint64_t>(box.length(2));
    std::uint64_t row = first / length, skipped = first % length;
    while (!values.empty()) {
        const Cell at{box.lo[0], box.lo[1] + static_cast<std::int32_t>(row % rows),
                      box.lo[2] + static_cast<std::int32_t>(row / rows % planes)};
        std::uint64_t index = number(step, level, row / rows / planes, at) + skipped;
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(length - skipped, values.size()));
        for (double& value : values.first(count)) value = core::mixed_fraction(index++);
        values = values.subspan(count);
        skipped = 0;
        ++row;
    }
}

/// Calls visit(cells) for those that a box of the finer level covers; no finer box cuts a cell.
template <class Visit>
void Particles::each_covered(std::size_t level, const CellBox& box, Visit&& visit) const {
    if (level + 1 == x_mesh.levels.size()) return;
    const auto ratio = static_cast<std::int32_t>(x_mesh.ref_ratio);
    CellBox fine;
    for (std::size_t d = 0; d < 3; ++d) {
        fine.lo[d] = box.lo[d] * ratio;
        fine.hi[d] = (box.hi[d] + 1) * ratio - 1;
    }
    x_finders[level + 1].each(fine, [&](std::uint32_t, CellBox both) {
        for (std::size_t d = 0; d < 3; ++d) {
            both.lo[d] /= ratio;
            both.hi[d] /= ratio;
        }
        visit(both);
    });
}

Particles::Particles(const Mesh& mesh, std::uint64_t per_cell)
    : x_mesh(mesh), x_per_cell(per_cell), x_numbers(mesh, per_cell) {
    for (const Level& level : mesh.levels) x_finders.emplace_back(level.boxes);
    std::vector<std::uint64_t> next(static_cast<std::size_t>(mesh.ranks), 1);
    for (std::size_t number = 0; number < mesh.levels.size(); ++number) {
        const Level& level = mesh.levels[number];
        x_counts.emplace_back();
        x_ids.emplace_back();
        for (std::size_t box = 0; box < level.boxes.size(); ++box) {
            std::uint64_t bare = level.boxes[box].cells();
            each_covered(number, level.boxes[box],
                         [&](const CellBox& cells) { bare -= cells.cells(); });
            const std::uint64_t count = core::checked_mul(bare, per_cell, "nppc");
            std::uint64_t& id = next[static_cast<std::size_t>(level.owners[box])];
            x_counts.back().push_back(count);
            x_ids.back().push_back(id);
            id = core::checked_add(id, count, "nppc");
            x_count = core::checked_add(x_count, count, "nppc");
            x_next_id = std::max(x_next_id, id);
        }
    }
    if (x_next_id > INT32_MAX)
        throw core::Error(core::Code::bad_input,
                          std::to_string(x_next_id - 1) + " particles on one rank", "nppc",
                          "their ids have 31 bits: give a smaller nppc, or take more ranks");
}

void Particles::records(std::uint64_t step, std::size_t level, std::size_t box,
                        std::span<std::byte> bytes) const {
    const CellBox& cells = x_mesh.levels[level].boxes[box];
    std::vector<bool> hidden(static_cast<std::size_t>(cells.cells()));
    each_covered(level, cells, [&](const CellBox& below) {
        each_cell(below, [&](const Cell& cell) { hidden[within(cells, cell)] = true; });
    });
    const std::array<double, 3> size = x_mesh.cell_size(level);
    std::size_t ints = 0, reals = static_cast<std::size_t>(count(level, box) * particle_int_bytes);
    auto id = static_cast<std::int32_t>(x_ids[level][box]);
    each_cell(cells, [&](const Cell& cell) {
        if (hidden[within(cells, cell)]) return;
        for (std::uint64_t n = 0; n < x_per_cell; ++n) {
            std::uint64_t index = x_numbers.number(step, level, n, cell) * numbers_of_a_particle;
            for (std::size_t d = 0; d < 3; ++d) {
                const double part = 0.25 + core::mixed_fraction(index++) / 2;
                put_real(bytes, reals, (static_cast<double>(cell[d]) + part) * size[d]);
            }
            for (std::size_t c = 0; c < particle_reals; ++c)
                put_real(bytes, reals, core::mixed_fraction(index++));
            put_number(bytes, ints, id++);
            put_number(bytes, ints, x_mesh.levels[level].owners[box]);
            for (std::size_t c = 0; c < particle_ints; ++c)
                put_number(bytes, ints,
                           static_cast<std::int32_t>(core::mixed_index(index++) >> 33));
        }
    });
}

}  // namespace tailrace::kernels::amr
