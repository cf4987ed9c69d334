// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "kernels/amr/amrex_lines.hpp"
#include "kernels/amr/inputs.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

namespace {

const std::string seed =
    "# Domain size\nncells = 128 \n# Maximum allowable size of each subdomain; \nmax_grid_size = "
    "32\nnlevs = 1\nncomp = 6 \nnppc = 2 \n";

Inputs inputs_of(const std::string& text, const std::vector<std::string>& arguments = {}) {
    core::Config config(key_table());
    config.add_lines(lines_of(config.table(), text, "inputs"), "inputs", false);
    for (const std::string& argument : last_of_each(config.table(), arguments))
        config.add_argument(argument);
    config.finish();
    return inputs_from(std::move(config), 4);
}

std::string refused(const std::string& text) {
    try {
        const Inputs inputs = inputs_of(text);
        (void)mesh_of(inputs);
    } catch (const core::Error& error) {
        return error.what();
    }
    return "accepted";
}

bool says(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

std::string lines(const std::string& text) { return lines_of(key_table(), text, "inputs"); }

}  // namespace

TEST_SUITE("kernels.amr_inputs") {
    TEST_CASE("the inputs of the original") {
        const Inputs inputs = inputs_of(seed);
        CHECK(inputs.mesh.cells == Cell{128, 128, 128});
        CHECK(inputs.mesh.max_grid_size == Cell{32, 32, 32});
        CHECK(inputs.mesh.ranks == 4);
        CHECK(inputs.components == 6);
        CHECK(inputs.per_cell == 2);
        CHECK(inputs.config.text("format") == "pnetcdf");
        CHECK(inputs.filename == "plt00000.nc");
        CHECK((inputs.shared_output && inputs.native_output && inputs.particle_output));
        CHECK(mesh_of(inputs).levels[0].boxes.size() == 64);
        CHECK(inputs.config.place("ncomp") == "inputs:6");
    }

    TEST_CASE("lines in AMReX's form become ours under the same numbers") {
        CHECK(lines("ncells=64\n\n  nlevs  = 2 # two\r\nnppc = 1") ==
              "ncells 64\n\nnlevs 2\nnppc 1\n");
        CHECK(lines("ncells = 64\nncomp = 1\nncells = 32\n") == "\nncomp 1\nncells 32\n");
        CHECK(lines("ncells = 64 32\n  16\nncomp = 1\n") == "ncells 64 32 16\n\nncomp 1\n");
        CHECK(lines("filename = \"a b.nc\"\n") == "filename a b.nc\n");
        CHECK(lines("filename = a#b.nc\n") == "filename a#b.nc\n");
        CHECK(lines("ncells 64\nhint a=1\nDONE\n") == "ncells 64\nhint a=1\nDONE\n");
        CHECK(lines("hint = a=1\nhint = b=2\nhint = a=3\n") == "\nhint b=2\nhint a=3\n");
        CHECK(says(refused("just words\n"), "inputs:1"));
        CHECK(says(refused("ncells 64\n32 16\n"), "\"32 16\" sets nothing"));
    }

    TEST_CASE("the command line wins, and of it the last") {
        const Inputs inputs = inputs_of(seed, {"ncells=64", "hint=a=1", "ncells=16", "hint=b=2"});
        CHECK(inputs.mesh.cells == Cell{16, 16, 16});
        CHECK(inputs.config.pairs("hint") == core::NamedValues{{"a", "1"}, {"b", "2"}});
    }

    TEST_CASE("meshes of several levels") {
        const Inputs inputs = inputs_of(
            "ncells = 16 8 8\nmax_grid_size = 8 4 4\nnlevs = 3\nncomp = 1\nnppc = 0\n"
            "refine = 0 2 2 2 5 5 5  0 8 2 2 11 5 5\n         1 6 6 6 9 9 9\nboxes = current\n"
            "distribution = knapsack\nref_ratio = 2\nblocking_factor = 2\nformat = hdf5\n"
            "outputs = shared\n");
        CHECK(inputs.mesh.refined[0][1] == CellBox{{8, 2, 2}, {11, 5, 5}});
        CHECK(inputs.mesh.refined[1] == std::vector<CellBox>{{{6, 6, 6}, {9, 9, 9}}});
        CHECK(inputs.mesh.order == BoxOrder::current);
        CHECK(inputs.mesh.distribution == Distribution::knapsack);
        CHECK(inputs.filename == "plt00000.h5");
        CHECK_FALSE(inputs.native_output);
        const Mesh mesh = mesh_of(inputs);
        CHECK(mesh.levels[1].cells() == 2 * 512);
        CHECK(mesh.levels[2].cells() == 512);
    }

    TEST_CASE("files of boxes are asked for") {
        CHECK(inputs_of(seed).grids.empty());
        CHECK(inputs_of(seed + "grids_from_file = 1\n").grids == "grids");
        const Inputs inputs = inputs_of(seed + "ncells = 4\ngrids_from_file = /some/where\n");
        CHECK(inputs.grids == "/some/where");
        const std::string box = "((0,0,0) (3,3,3) (0,0,0))\n";
        CHECK(mesh_of(inputs, {box + "(1 0\n" + box + ")\n"}).levels[0].boxes.size() == 1);
        CHECK(says(refused(seed + "grids_from_file = 1\nrefine = centre\n"), "beside"));
    }

    TEST_CASE("plot files of a series count on from the digits of the first, or get some") {
        CHECK(of_step("a/plt.nc", 0, 1, false) == "a/plt.nc");
        CHECK(of_step("a/plt.nc", 0, 2, false) == "a/plt00000.nc");
        CHECK(of_step("a/plt.nc", 12, 20, false) == "a/plt00012.nc");
        CHECK(of_step("plt00098.h5", 3, 4, false) == "plt00101.h5");
        CHECK(of_step("plt9.nc", 1, 2, false) == "plt10.nc");
        CHECK(of_step("7", 1, 2, false) == "8");
        CHECK(of_step("3d/x", 1, 2, false) == "3d/x00001");
        CHECK(of_step("1234567890123456789", 1, 2, false) == "123456789012345678900001");
        // A file and the folder beside it count alike.
        CHECK(of_step("plt.00041.nc", 1, 2, false) == "plt.00042.nc");
        CHECK(of_step("plt.00041", 1, 2, true) == "plt.00042");
        CHECK(of_step("v1.x", 1, 2, true) == "v1.x00001");
    }

    TEST_CASE("what is missing or wrong is named with its line and the remedy") {
        CHECK(says(refused("ncells = 4\n"), "missing keys: max_grid_size"));
        CHECK(says(refused(seed + "ncell = 4\n"), "Did you mean \"ncells\"?"));
        CHECK(says(refused(seed + "ncells = 0\n"), "inputs:8"));
        CHECK(says(refused(seed + "ncells = 4 4\n"), "give one for all axes, or three"));
        CHECK(says(refused(seed + "ncells = 4 x 4\n"), "is not a whole number"));
        CHECK(says(refused(seed + "ncells = 536870912\n"), "64 bits"));
        CHECK(says(refused(seed + "ref_ratio = 3\n"), "inputs:8 (ref_ratio 3)"));
        CHECK(says(refused(seed + "blocking_factor = 3\n"), "no multiple"));
        CHECK(says(refused(seed + "refine = 0 1 1 1 2 2\n"), "6 words"));
        CHECK(says(refused(seed + "refine = 0 1 1 1 2 2 2\n"), "nlevs is 1"));
        CHECK(says(refused(seed + "nlevs = 2\nrefine = 0 2 2 2 1 1 1\n"), "inputs:9"));
        CHECK(says(refused(seed + "outputs = hdf5\n"), "take shared, native or particles"));
        CHECK(says(refused(seed + "outputs = shared particles\n"), "add native"));
        CHECK(says(refused(seed + "distribution = even\n"), "sfc|knapsack|roundrobin"));
    }
}
