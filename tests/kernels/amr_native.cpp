// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>

#include "amr_files.hpp"
#include "core/error.hpp"
#include "kernels/amr/native.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

namespace {

struct Written {
    Mesh mesh;
    std::map<std::string, std::string> files;
};

Written written(const MeshPlan& plan, std::uint64_t components, std::uint64_t per_cell,
                std::uint64_t files) {
    Written result{make_mesh(plan), {}};
    const Plot plot{result.mesh, components, 0, 0};
    const Particles particles(result.mesh, per_cell);
    const Fill fill(result.mesh, components);
    const NativeLayout layout(plot, fill, &particles, files);
    test::Files store(layout.schema());
    store.take(layout, result.mesh);
    store.take(test::texts_of(layout, fill, result.mesh, files));
    CHECK(store.every_byte_once());
    for (std::size_t i = 0; i < store.objects(); ++i)
        result.files[layout.schema().objects[i].path] = store.text(i);
    return result;
}

}  // namespace

TEST_SUITE("kernels.amr_native") {
    TEST_CASE("the texts of a small plot file, letter by letter") {
        MeshPlan plan;
        plan.cells = {4, 2, 2};
        plan.max_grid_size = {2, 2, 2};
        plan.levels = 2;
        plan.n_proper = 0;
        plan.refined = {{{{1, 0, 0}, {2, 1, 0}}}};
        plan.ranks = 2;
        const Written plot = written(plan, 1, 0, 8);
        CHECK(plot.files.at("/Header") ==
              "HyperCLaw-V1.1\n1\ncomponent_0\n3\n0\n1\n0 0 0 \n1 0.5 0.5 \n2 \n"
              "((0,0,0) (3,1,1) (0,0,0)) ((0,0,0) (7,3,3) (0,0,0)) \n0 0 \n"
              "0.25 0.25 0.25 \n0.125 0.125 0.125 \n0\n0\n"
              "0 2 0\n0\n0 0.5\n0 0.5\n0 0.5\n0.5 1\n0 0.5\n0 0.5\nLevel_0/Cell\n"
              "1 4 0\n0\n0.25 0.5\n0 0.25\n0 0.25\n0.5 0.75\n0 0.25\n0 0.25\n"
              "0.25 0.5\n0.25 0.5\n0 0.25\n0.5 0.75\n0.25 0.5\n0 0.25\nLevel_1/Cell\n");
        const std::string& cell_h = plot.files.at("/Level_0/Cell_H");
        CHECK(cell_h.substr(0, cell_h.find("2,1\n")) ==
              "1\n1\n1\n0\n(2 0\n((0,0,0) (1,1,1) (0,0,0))\n((2,0,0) (3,1,1) (0,0,0))\n)\n2\n"
              "FabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00001 0\n\n");
        const std::string& cells = plot.files.at("/Level_0/Cell_D_00000");
        const std::string head =
            "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
            "((0,0,0) (1,1,1) (0,0,0)) 1\n";
        CHECK(cells.substr(0, head.size()) == head);
        CHECK(cells.size() == head.size() + 64);
        CHECK(plot.files.at("/particle0/Header") ==
              "Version_Two_Dot_Zero_double\n3\n12\n" + test::lines("particle_real_component_", 12) +
                  "4\n" + test::lines("particle_int_component_", 4) +
                  "1\n0\n1\n1\n2\n4\n0 0 0\n1 0 0\n0 0 0\n1 0 0\n0 0 0\n1 0 0\n");
        CHECK(plot.files.size() == 8);  // no file for particles that are not there
    }

    TEST_CASE("FABs stand where Cell_H says, with the values and extremes of their boxes") {
        for (const std::uint64_t files : {1, 2, 3, 100}) {
            MeshPlan plan;
            plan.cells = {8, 6, 7};
            plan.max_grid_size = {3, 4, 4};
            plan.levels = 2;
            plan.ranks = 3;
            const Written plot = written(plan, 2, 1, files);
            const Fill fill(plot.mesh, 2);
            for (std::size_t level = 0; level < 2; ++level) {
                const std::string folder = "/Level_" + std::to_string(level) + "/";
                std::istringstream text(plot.files.at(folder + "Cell_H"));
                std::vector<std::string> lines;
                for (std::string line; std::getline(text, line);) lines.push_back(line);
                const std::vector<CellBox>& boxes = plot.mesh.levels[level].boxes;
                std::size_t fab = 7 + boxes.size(), least = fab + boxes.size() + 2;
                for (const CellBox& box : boxes) {
                    std::istringstream words(lines.at(fab++));
                    std::string word, file;
                    std::size_t offset = 0;
                    words >> word >> file >> offset;
                    CHECK(word == "FabOnDisk:");
                    const std::string& bytes = plot.files.at(folder + file);
                    const std::size_t end = bytes.find('\n', offset) + 1;
                    CHECK(bytes.substr(offset, 4) == "FAB ");
                    CHECK(bytes.substr(offset, end - offset).ends_with(box.text() + " 2\n"));
                    std::vector<double> stored(static_cast<std::size_t>(box.cells() * 2)),
                        expected(stored.size());
                    std::memcpy(stored.data(), &bytes[end], stored.size() * sizeof(double));
                    fill.values(0, level, box, expected);
                    CHECK(stored == expected);
                    const Extremes extremes = extremes_of(std::as_bytes(std::span(expected)), 2);
                    double first = 0, second = 0;
                    char comma = 0;
                    std::istringstream(lines.at(least)) >> first >> comma >> second;
                    CHECK(std::vector<double>{first, second} == extremes.least);
                    std::istringstream(lines.at(least + boxes.size() + 2)) >> first >> comma >>
                        second;
                    CHECK(std::vector<double>{first, second} == extremes.most);
                    ++least;
                }
            }
        }
    }

    TEST_CASE("any part of any file of data is what the whole file has there") {
        MeshPlan plan;
        plan.cells = {6, 5, 4};
        plan.max_grid_size = {3, 4, 4};
        plan.levels = 2;
        plan.ranks = 3;
        const Mesh mesh = make_mesh(plan);
        const Plot plot{mesh, 2, 1, 0};
        const Fill fill(mesh, 2);
        const Particles particles(mesh, 1);
        const NativeLayout layout(plot, fill, &particles, 2);
        test::Files files(layout.schema());
        files.take(layout, mesh);
        std::size_t looked = 0;
        for (std::size_t object = 0; object < files.objects(); ++object) {
            if (layout.holds(object) == NativeLayout::Holds::text) continue;
            const std::string& whole = files.text(object);
            for (std::size_t first = 0; first < whole.size(); first += 1 + whole.size() / 53)
                for (const std::size_t count :
                     {std::size_t{1}, std::size_t{13}, whole.size() / 3, whole.size()}) {
                    const std::size_t here = std::min(count, whole.size() - first);
                    std::vector<std::byte> found(here);
                    layout.values(object, {{first}, {here}}, found);
                    CHECK(std::memcmp(found.data(), &whole[first], here) == 0);
                    ++looked;
                }
        }
        CHECK(looked > 1000);
    }

    TEST_CASE("the header of the particles says where they are") {
        MeshPlan plan;
        plan.cells = {8, 8, 8};
        plan.max_grid_size = {4, 4, 4};
        plan.levels = 2;
        plan.n_proper = 0;
        plan.refined = {{{{0, 0, 0}, {7, 7, 7}}}};  // level 0 has none
        plan.ranks = 3;
        const Written plot = written(plan, 1, 2, 2);
        CHECK_FALSE(plot.files.contains("/particle0/Level_0/Particle_H"));
        CHECK(
            plot.files.at("/particle0/Level_1/Particle_H").starts_with("(64 0\n((0,0,0) (3,3,3)"));
        std::istringstream header(plot.files.at("/particle0/Header"));
        std::string line;
        for (int skipped = 0; skipped < 3 + 12 + 1 + 4 + 1; ++skipped) std::getline(header, line);
        std::uint64_t count = 0, next = 0, finest = 0, boxes_0 = 0, boxes_1 = 0, seen = 0;
        header >> count >> next >> finest >> boxes_0 >> boxes_1;
        CHECK(count == 2 * 16 * 16 * 16);
        CHECK(finest == 1);
        CHECK(boxes_0 == 8);
        CHECK(boxes_1 == 64);
        for (std::size_t box = 0; box < 72; ++box) {
            std::uint64_t file = 0, here = 0, where = 0;
            header >> file >> here >> where;
            seen += here;
            if (here == 0) continue;
            std::int32_t id_and_rank[2]{};
            std::memcpy(id_and_rank,
                        &plot.files.at(numbered("/particle0/Level_1/DATA_", file))[where], 8);
            CHECK(id_and_rank[1] == plot.mesh.levels[1].owners[box - 8]);
            CHECK(static_cast<std::uint64_t>(id_and_rank[1]) % 2 == file);
            CHECK(id_and_rank[0] < static_cast<std::int32_t>(next));
        }
        CHECK(seen == count);
    }

    TEST_CASE("extremes of other boxes are refused") {
        MeshPlan plan;
        plan.cells = {4, 4, 4};
        const Mesh mesh = make_mesh(plan);
        const Fill fill(mesh, 1);
        const NativeLayout layout({mesh, 1, 0, 0}, fill, nullptr, 1);
        CHECK_THROWS_WITH_AS((void)layout.texts({}, std::vector<Extremes>(1)),
                             doctest::Contains("/Level_0/Cell_H"), core::Error);
        auto texts = layout.texts({}, std::vector<Extremes>{{{-0.5}, {0.5}}});
        std::vector<std::uint64_t> sizes;
        for (const auto& text : texts) sizes.push_back(text.bytes.size());
        CHECK_THROWS_WITH_AS(layout.put_in_place(texts, {}, sizes),
                             doctest::Contains("fractions in [0, 1)"), core::Error);
    }

    TEST_CASE("shares are stretches of all rows, and each row has an owner") {
        for (const std::size_t rows : {1U, 2U, 7U, 100U})
            for (const std::uint64_t ranks : {1U, 3U, 7U, 9U}) {
                std::size_t next = 0;
                for (std::uint64_t rank = 0; rank < ranks + 2; ++rank) {
                    const Share share{rank, ranks};
                    REQUIRE(share.first(rows) == next);
                    for (std::size_t i = 0; i < share.of(rows); ++i)
                        CHECK(Share::owner(next++, rows, ranks) == rank);
                }
                CHECK(next == rows);
            }
    }

    TEST_CASE("numbers are those of printf") {
        std::vector<double> values{0,    1,    -0.25, 0.1,       0.5,         0x1p-53, 3 * 0x1p-53,
                                   0.75, 1e-9, 1e300, 0x1.8p-40, 1 - 0x1p-53, 0x1p-54, 12.5};
        for (double power = 0.1; power > 1e-16; power /= 10)
            for (const double step : {-1.0, 0.0, 1.0})
                values.push_back((std::floor(power * 0x1p53) + step) * 0x1p-53);
        std::uint64_t state = 1;
        for (int i = 0; i < 20000; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            values.push_back(static_cast<double>(state >> (11 + i % 53)) * 0x1p-53);
        }
        for (const double value : values) {
            std::array<char, 40> expected{};
            (void)std::snprintf(expected.data(), expected.size(), "%.17e", value);
            std::string text;
            append_scientific(text, value);
            CHECK(text == expected.data());
        }
    }
}
