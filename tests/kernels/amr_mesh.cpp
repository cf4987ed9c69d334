// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/error.hpp"
#include "kernels/amr/mesh.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

namespace {

MeshPlan plan_of(Cell cells, std::int32_t largest, std::uint64_t ranks = 1) {
    MeshPlan plan;
    plan.cells = cells;
    plan.max_grid_size = {largest, largest, largest};
    plan.ranks = ranks;
    return plan;
}

/// How often each cell is in a box.
std::map<Cell, int> covered(const Level& level) {
    std::map<Cell, int> times;
    for (const CellBox& box : level.boxes)
        for (std::int32_t k = box.lo[2]; k <= box.hi[2]; ++k)
            for (std::int32_t j = box.lo[1]; j <= box.hi[1]; ++j)
                for (std::int32_t i = box.lo[0]; i <= box.hi[0]; ++i) ++times[{i, j, k}];
    return times;
}

bool once(const std::map<Cell, int>& times) {
    return std::all_of(times.begin(), times.end(), [](const auto& at) { return at.second == 1; });
}

std::vector<std::int32_t> in_order(const Level& level) {
    std::vector<std::int32_t> owners;
    for (const std::uint32_t box : level.by_rank()) owners.push_back(level.owners[box]);
    return owners;
}

std::string refused(const MeshPlan& plan) {
    try {
        (void)make_mesh(plan);
    } catch (const core::Error& error) {
        CHECK(error.code() == core::Code::bad_input);
        CHECK_FALSE(error.remedy().empty());
        return error.what();
    }
    return "accepted";
}

bool says(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("kernels.amr") {
    TEST_CASE("boxes and owners are those that AMReX was seen to make") {
        const Level seed = make_mesh(plan_of({128, 128, 128}, 32, 4)).levels[0];
        REQUIRE(seed.boxes.size() == 64);
        CHECK(seed.boxes[1] == CellBox{{96, 0, 0}, {127, 31, 31}});  // 2019: from the high end
        const Level small = make_mesh(plan_of({48, 48, 48}, 32, 4)).levels[0];
        CHECK(small.boxes[0] == CellBox{{0, 0, 0}, {15, 15, 15}});
        CHECK(in_order(small) == std::vector<std::int32_t>{0, 0, 1, 2, 2, 3, 3, 3});
        MeshPlan today = plan_of({48, 48, 48}, 32, 4);
        today.order = BoxOrder::current;
        CHECK(make_mesh(today).levels[0].boxes[0] == CellBox{{0, 0, 0}, {31, 31, 31}});
        CHECK(make_mesh(today).levels[0].boxes[1] == CellBox{{32, 0, 0}, {47, 31, 31}});
    }

    TEST_CASE("every cell is in one box, which is not too large and has a rank") {
        for (const Cell& cells : {Cell{1, 1, 1}, {7, 5, 3}, {12, 1, 8}, {17, 16, 10}, {20, 12, 4}})
            for (const std::int32_t largest : {1, 3, 4, 8, 64})
                for (const std::uint64_t ranks : {1, 2, 5, 64})
                    for (const BoxOrder order : {BoxOrder::current, BoxOrder::of_2019})
                        for (const Distribution how : {Distribution::sfc, Distribution::knapsack,
                                                       Distribution::roundrobin}) {
                            MeshPlan plan = plan_of(cells, largest, ranks);
                            plan.order = order;
                            plan.distribution = how;
                            const Level level = make_mesh(plan).levels[0];
                            if (ranks == 1 && how == Distribution::sfc) {
                                const auto times = covered(level);
                                CHECK(once(times));
                                CHECK(times.size() == level.domain.cells());
                            }
                            CHECK(level.cells() == level.domain.cells());
                            for (const CellBox& box : level.boxes)
                                for (std::size_t d = 0; d < 3; ++d) CHECK(box.length(d) <= largest);
                            for (const std::int32_t owner : level.owners)
                                CHECK((owner >= 0 && owner < static_cast<std::int32_t>(ranks)));
                            const std::vector<std::int32_t> owners = in_order(level);
                            CHECK(std::is_sorted(owners.begin(), owners.end()));
                        }
    }

    TEST_CASE("with more ranks than boxes each box has a rank of its own") {
        for (const Distribution how :
             {Distribution::sfc, Distribution::knapsack, Distribution::roundrobin}) {
            MeshPlan plan = plan_of({16, 8, 8}, 8, 5);
            plan.distribution = how;
            CHECK(in_order(make_mesh(plan).levels[0]) == std::vector<std::int32_t>{0, 1});
        }
    }

    TEST_CASE("boxes are multiples of the blocking factor") {
        MeshPlan plan = plan_of({40, 24, 8}, 16);
        plan.blocking_factor = {8, 8, 8};
        const Level level = make_mesh(plan).levels[0];
        for (const CellBox& box : level.boxes)
            for (std::size_t d = 0; d < 3; ++d) {
                CHECK(box.lo[d] % 8 == 0);
                CHECK(box.length(d) % 8 == 0);
            }
        plan.levels = 2;
        plan.n_proper = 0;
        const Level finer = make_mesh(plan).levels[1];
        for (const CellBox& box : finer.boxes)
            for (std::size_t d = 0; d < 3; ++d) {
                CHECK(box.lo[d] % 8 == 0);
                CHECK(box.length(d) % 8 == 0);
            }
        CHECK(finer.boxes.front().lo == Cell{16, 8, 0});  // outwards from 20, 12, 4
        plan.levels = 1;
        plan.blocking_factor = {16, 8, 8};
        CHECK(says(refused(plan), "40 cells along x are no multiple of the blocking_factor 16"));
        plan.blocking_factor = {8, 12, 8};
        CHECK(says(refused(plan), "max_grid_size 16 along y"));
    }

    TEST_CASE("the middle is refined, and every level lies within the one below") {
        for (const std::uint64_t ratio : {2, 4}) {
            MeshPlan plan = plan_of({16, 16, 8}, 7, 3);
            plan.levels = 3;
            plan.ref_ratio = ratio;
            const Mesh mesh = make_mesh(plan);
            REQUIRE(mesh.levels.size() == 3);
            const auto r = static_cast<std::int32_t>(ratio);
            CHECK(mesh.levels[1].domain.hi == Cell{16 * r - 1, 16 * r - 1, 8 * r - 1});
            CHECK(mesh.levels[1].cells() == ratio * ratio * ratio * 256);
            for (std::size_t number = 1; number < 3; ++number) {
                CHECK(once(covered(mesh.levels[number])));
                for (const CellBox& box : mesh.levels[number].boxes)
                    for (std::size_t d = 0; d < 3; ++d) {
                        CHECK(box.lo[d] % r == 0);
                        CHECK(box.length(d) % r == 0);
                    }
                const auto below = covered(mesh.levels[number - 1]);
                for (const auto& [cell, times] : covered(mesh.levels[number]))
                    CHECK(below.contains({cell[0] / r, cell[1] / r, cell[2] / r}));
            }
            CHECK(mesh.cell_size(0)[0] == 1.0 / 16);
            CHECK(mesh.cell_size(1)[2] == 1.0 / (16 * r));
            CHECK(mesh.prob_hi() == std::array<double, 3>{1, 1, 0.5});
        }
    }

    TEST_CASE("boxes to refine are taken as they are given, or refused") {
        MeshPlan plan = plan_of({16, 16, 16}, 8);
        plan.levels = 3;
        plan.refined = {{{{0, 0, 0}, {7, 7, 7}}, {{8, 0, 0}, {15, 7, 7}}},
                        {{{0, 0, 0}, {29, 13, 13}}}};  // at the domain's border, one cell within
        CHECK(make_mesh(plan).levels[1].cells() == 32 * 16 * 16);
        plan.refined[1] = {{{0, 0, 0}, {29, 14, 14}}};
        CHECK(make_mesh(plan).levels[2].cells() == 60 * 30 * 30);
        plan.refined[1] = {{{0, 0, 0}, {29, 15, 14}}};
        CHECK(says(refused(plan), "of level 2 is not nested"));
        plan.n_proper = 0;
        CHECK(make_mesh(plan).levels[2].cells() == 60 * 32 * 30);
        plan.refined[1] = {{{0, 0, 0}, {3, 3, 3}}, {{3, 3, 3}, {5, 5, 5}}};
        CHECK(says(refused(plan), "overlap"));
        plan.refined[1] = {{{0, 0, 0}, {32, 3, 3}}};
        CHECK(says(refused(plan), "is no box of level 1, whose domain"));
        plan.refined.push_back({{{0, 0, 0}, {1, 1, 1}}});
        CHECK(says(refused(plan), "boxes to refine on level 2, but nlevs is 3"));
    }

    TEST_CASE("files of boxes say what the levels are") {
        const std::string low = "((0,0,0) (15,15,15) (0,0,0))\n",
                          fine = "((0,0,0) (31,31,31) (0,0,0))\n";
        MeshPlan plan = plan_of({16, 16, 16}, 8);
        plan.levels = 2;
        plan.grids = {grids_from(low + "(1 0\n" + low + ")\n", "a"),
                      grids_from(fine + "(2 0\n((2,2,2) (9,9,9) (0,0,0))\n\n"
                                        "((10,2,2) (13,9,9) (0,0,0))\r\n)\n",
                                 "b")};
        CHECK(plan.grids[1].boxes[1] == CellBox{{10, 2, 2}, {13, 9, 9}});
        CHECK(make_mesh(plan).levels[0].boxes.size() == 1);
        CHECK(make_mesh(plan).levels[1].boxes == plan.grids[1].boxes);
        plan.levels = 3;
        CHECK(says(refused(plan), "boxes of 2 levels for nlevs 3"));
        plan.levels = 2;
        plan.grids[1].boxes[1].hi[0] = 14;
        CHECK(says(refused(plan), "cuts coarser cells along x"));
        plan.grids[1].boxes[1] = {{8, 2, 2}, {13, 9, 9}};
        CHECK(says(refused(plan), "overlap"));
        plan.grids[1].boxes[1] = {{10, 2, 2}, {33, 9, 9}};
        CHECK(says(refused(plan), "leaves the domain"));
        plan.grids[1].boxes.clear();
        CHECK(says(refused(plan), "no box of level 1"));
        plan.grids[0].boxes[0].hi[2] = 14;
        CHECK(says(refused(plan), "leave cells of the domain out"));
        plan.cells = {8, 16, 16};
        CHECK(says(refused(plan), "the domain of level 0"));
        const auto wrong = [&](const std::string& text) -> std::string {
            try {
                (void)grids_from(text, "g");
            } catch (const core::Error& error) {
                return error.what();
            }
            return "accepted";
        };
        CHECK(says(wrong(low + "(1 0\n((0,0,0) (7,7) (0,0,0))\n"), "g:3"));
        CHECK(says(wrong(low + "(1 0\n((9,0,0) (7,7,7) (0,0,0))\n"), "no box of cells"));
        CHECK(says(wrong(low), "the file ends too early"));
        CHECK(says(wrong(low + "(many 0\n"), "how many boxes"));
    }

    TEST_CASE("what cannot be is refused with the key and the remedy") {
        CHECK(says(refused(plan_of({0, 4, 4}, 4)), "0 cells along x"));
        CHECK(says(refused(plan_of({most_cells, most_cells, most_cells}, 1 << 20)), "64 bits"));
        CHECK(says(refused(plan_of({4, 4, 4}, 0)), "max_grid_size"));
        CHECK(says(refused(plan_of({4096, 4096, 4096}, 1)), "31 bits"));
        MeshPlan plan = plan_of({8, 8, 8}, 4);
        plan.levels = 0;
        CHECK(says(refused(plan), "nlevs"));
        plan.levels = 2;
        plan.ref_ratio = 3;
        CHECK(says(refused(plan), "give 2 or 4"));
        plan.ref_ratio = 4;
        plan.max_grid_size = {4, 4, 3};
        CHECK(says(refused(plan), "3 along z holds no box of 4 cells"));
        plan.cells = {most_cells / 2, 1, 1};
        plan.max_grid_size = {1 << 20, 1, 1};
        CHECK(says(refused(plan), "level 1 has more than"));
    }

    TEST_CASE("a hundred thousand boxes are planned at once") {
        for (const Distribution how : {Distribution::sfc, Distribution::knapsack}) {
            MeshPlan plan = plan_of({8 * 64, 8 * 50, 8 * 32}, 8, 1000);
            plan.levels = 2;
            plan.distribution = how;
            const auto start = std::chrono::steady_clock::now();
            const Mesh mesh = make_mesh(plan);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            CHECK(mesh.levels[0].boxes.size() == 102400);
            CHECK(mesh.levels[1].boxes.size() == 102400);
            CHECK(took.count() < 30);  // here far below 1 s, while a quadratic way takes minutes
        }
    }
}
