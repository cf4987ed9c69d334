// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel: those of AMReX's benchmark, and what it lacks.
#include "formats/keys.hpp"
#include "kernels/amr/inputs.hpp"

namespace tailrace::kernels::amr {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;

Key number(const char* group, const char* name, const char* fallback, const char* help,
           std::uint64_t min = 1) {
    Key key = runner::key(name, Shape::number, group, help);
    key.default_text = fallback;
    key.required = key.default_text.empty();
    key.min = min;
    return key;
}

Key per_axis(const char* name, const char* fallback, const char* help) {
    Key key = runner::key(name, Shape::words, "Mesh", help);
    key.choices = {"N", "[NY NZ]"};
    key.default_text = fallback;
    key.required = key.default_text.empty();
    key.most_words = 3;
    return key;
}

Key choice(const char* name, std::vector<std::string> choices, const char* help) {
    Key key = runner::key(name, Shape::choice, "Mesh", help);
    key.default_text = choices.front();
    key.choices = std::move(choices);
    return key;
}

void add_mesh(KeyTable& table) {
    table.add(per_axis("ncells", "", "cells of level 0, along all axes or along each"));
    table.add(per_axis("max_grid_size", "", "most cells of a box, along all axes or along each"));
    Key levels = number("Mesh", "nlevs", "", "levels of the mesh");
    levels.max = 30;  // each has at least twice as many cells along an axis
    table.add(levels);
    table.add(per_axis("blocking_factor", "1", "lengths of boxes are multiples of it"));
    Key ratio = number("Mesh", "ref_ratio", "2", "cells of a level in one of the coarser: 2 or 4");
    ratio.min = 2;
    ratio.max = 4;
    table.add(ratio);
    Key proper = number("Mesh", "n_proper", "1",
                        "coarser cells around the boxes of a level that its coarser level has", 0);
    proper.max = most_cells;
    table.add(proper);
    Key refine =
        runner::key("refine", Shape::words, "Mesh",
                    "the middle half of each level, or boxes: the level, its lowest and its "
                    "highest cell, seven numbers each");
    refine.choices = {"centre|LEVEL", "[I J K I J K ...]"};
    refine.default_text = "centre";
    table.add(refine);
    Key grids =
        runner::key("grids_from_file", Shape::text, "Mesh",
                    "1: the files grids/Level_<n> give the boxes; or another folder with them");
    grids.default_text = "0";
    table.add(grids);
    table.add(choice("distribution", {"sfc", "knapsack", "roundrobin"},
                     "how boxes are given to ranks: along a curve, by their size, or in turn"));
    table.add(choice("boxes", {"2019", "current"},
                     "the order in which AMReX chops: that of the original, or today's"));
}

void add_data(KeyTable& table) {
    table.add(number("Data", "ncomp", "", "components of a cell"));
    table.add(number("Data", "nppc", "", "particles of a cell that nothing finer covers", 0));
    table.add(number("Data", "steps", "1", "plot files"));
    Key filename =
        runner::key("filename", Shape::text, "Data",
                    "the first plot file; the native folder has its name without ending");
    filename.default_text = "plt00000.nc";
    table.add(filename);
    Key outputs = runner::key("outputs", Shape::words, "Data",
                              "the file that all ranks share, AMReX's own folder, and particles in "
                              "it");
    outputs.choices = {"shared", "native", "particles"};
    outputs.default_text = "shared native particles";
    outputs.most_words = 3;
    table.add(outputs);
    table.add(number("Data", "nfiles", "256", "files of boxes per level, in the native folder"));
}

/// Keys of all kernels that know more words here.
void add_shared(KeyTable& table) {
    KeyTable others;
    formats::register_keys(others);
    runner::register_keys(others);
    for (Key key : others.keys()) {
        if (key.name == "format") {
            key.choices.emplace_back("native");
            key.default_text = "pnetcdf";
        } else if (key.name == "read") {
            key.choices = {"same|other|plane|points|shuffled|level|region", "..."};
        }
        table.add(key);
    }
    Key region =
        runner::key("read_region", Shape::words, "Run",
                    "lower and upper corner of what the pattern region reads, in space; the "
                    "first axis is 1 long");
    region.choices = {"X Y Z", "X Y Z"};
    region.least_words = region.most_words = 6;
    table.add(region);
}

}  // namespace

KeyTable key_table() {
    KeyTable table;
    add_mesh(table);
    add_data(table);
    add_shared(table);
    return table;
}

}  // namespace tailrace::kernels::amr
