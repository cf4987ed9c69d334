// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/splitmix.hpp"
#include "kernels/amr/fill.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

namespace {

Mesh mesh_of(std::uint64_t levels, std::uint64_t ranks = 3) {
    MeshPlan plan;
    plan.cells = {12, 8, 10};
    plan.max_grid_size = {5, 5, 5};
    plan.levels = levels;
    plan.ranks = ranks;
    return make_mesh(plan);
}

struct Particle {
    std::int32_t id = 0, rank = 0;
    std::array<std::int32_t, particle_ints> ints{};
    std::array<double, 3 + particle_reals> reals{};
};

std::vector<Particle> particles_of(const Particles& particles, std::size_t level, std::size_t box) {
    const auto count = static_cast<std::size_t>(particles.count(level, box));
    std::vector<std::byte> bytes(count * particle_bytes);
    particles.records(0, level, box, bytes);
    std::vector<Particle> all(count);
    for (std::size_t p = 0; p < count; ++p) {
        std::array<std::int32_t, 2 + particle_ints> whole{};
        std::memcpy(whole.data(), &bytes[p * particle_int_bytes], sizeof whole);
        all[p].id = whole[0];
        all[p].rank = whole[1];
        std::copy(whole.begin() + 2, whole.end(), all[p].ints.begin());
        std::memcpy(all[p].reals.data(),
                    &bytes[count * particle_int_bytes + p * sizeof all[p].reals],
                    sizeof all[p].reals);
    }
    return all;
}

}  // namespace

TEST_SUITE("kernels.amr_fill") {
    TEST_CASE("no two cells of steps, levels and components have the same value") {
        const Mesh mesh = mesh_of(2);
        const Fill fill(mesh, 3);
        std::set<double> seen;
        std::size_t count = 0;
        for (std::uint64_t step = 0; step < 2; ++step)
            for (std::size_t level = 0; level < 2; ++level)
                for (const CellBox& box : mesh.levels[level].boxes) {
                    std::vector<double> values(static_cast<std::size_t>(box.cells() * 3));
                    fill.values(step, level, box, values);
                    seen.insert(values.begin(), values.end());
                    count += values.size();
                }
        CHECK(seen.size() == count);
        CHECK(*seen.begin() >= 0);
        CHECK(*seen.rbegin() < 1);
    }

    TEST_CASE("a value follows from its place by one formula, component by component, i fastest") {
        const Mesh mesh = mesh_of(2);
        const CellBox box{{3, 1, 2}, {6, 2, 4}};
        std::vector<double> values(72);
        Fill(mesh, 3).values(5, 1, box, values);
        const std::uint64_t level_0 = 960, level_1 = level_0 * 8;
        const std::uint64_t first = 15 * (level_0 + level_1) + 3 * level_0;
        const auto at = [&](std::uint64_t c, std::uint64_t k, std::uint64_t j, std::uint64_t i) {
            return core::mixed_fraction(first + c * level_1 + (k * 16 + j) * 24 + i);
        };
        CHECK(values[0] == at(0, 2, 1, 3));
        CHECK(values[1] == at(0, 2, 1, 4));
        CHECK(values[4] == at(0, 2, 2, 3));
        CHECK(values[8] == at(0, 3, 1, 3));
        CHECK(values[24] == at(1, 2, 1, 3));
        CHECK(values.back() == at(2, 4, 2, 6));
    }

    TEST_CASE("the extremes of each component") {
        const std::vector<double> values{3, 1, 2, -4, -5, -6};
        const Extremes extremes = extremes_of(std::as_bytes(std::span(values)), 2);
        CHECK(extremes.least == std::vector<double>{1, -6});
        CHECK(extremes.most == std::vector<double>{3, -4});
    }

    TEST_CASE("each cell that nothing finer covers has its particles, which lie in it") {
        for (std::uint64_t levels = 1; levels <= 3; ++levels) {
            const Mesh mesh = mesh_of(levels);
            const Particles particles(mesh, 2);
            std::map<std::pair<std::int32_t, std::int32_t>, int> ids;
            std::map<std::pair<std::size_t, Cell>, int> in_cell;
            std::uint64_t count = 0;
            std::int32_t last_id = 0;
            for (std::size_t level = 0; level < levels; ++level)
                for (std::size_t box = 0; box < mesh.levels[level].boxes.size(); ++box)
                    for (const Particle& particle : particles_of(particles, level, box)) {
                        ++count;
                        ++ids[{particle.rank, particle.id}];
                        last_id = std::max(last_id, particle.id);
                        CHECK(particle.rank == mesh.levels[level].owners[box]);
                        Cell cell;
                        for (std::size_t d = 0; d < 3; ++d)
                            cell[d] = static_cast<std::int32_t>(particle.reals[d] /
                                                                mesh.cell_size(level)[d]);
                        const CellBox one{cell, cell};
                        CHECK(intersect(mesh.levels[level].boxes[box], one) == one);
                        ++in_cell[{level, cell}];
                        for (const std::int32_t whole : particle.ints) CHECK(whole >= 0);
                    }
            CHECK(count == particles.count());
            CHECK(ids.size() == count);
            CHECK(last_id + 1 == static_cast<std::int32_t>(particles.next_id()));
            for (const auto& [cell, times] : in_cell) CHECK(times == 2);
            std::uint64_t bare = mesh.levels[0].domain.cells();  // of the levels together
            for (std::size_t level = 1; level < levels; ++level)
                bare += mesh.levels[level].cells() - mesh.levels[level].cells() / 8;
            CHECK(in_cell.size() == bare);
        }
    }

    TEST_CASE("without particles there are none, and too many for their ids are refused") {
        const Mesh mesh = mesh_of(1);
        const Particles none(mesh, 0);
        CHECK(none.count() == 0);
        CHECK(none.next_id() == 1);
        CHECK(particles_of(none, 0, 0).empty());
        CHECK_THROWS_WITH_AS(Particles(mesh, 1ULL << 40), doctest::Contains("31 bits"),
                             core::Error);
        CHECK_THROWS_WITH_AS(Particles(mesh, 1ULL << 63), doctest::Contains("64 bits"),
                             core::Error);
    }
}
