// SPDX-License-Identifier: Apache-2.0
// Prints a mesh, for test_amr_owners.py: amr_mesh_tool RANKS key=value...
// A line for each box: its level, its lowest and its highest cell, and its rank.
#include <cstdio>
#include <string>

#include "kernels/amr/inputs.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

int main(int argc, char** argv) {
    try {
        core::Config config(key_table());
        for (int i = 2; i < argc; ++i) config.add_argument(argv[i]);
        config.finish();
        const Mesh mesh = mesh_of(inputs_from(std::move(config), std::stoull(argv[1])));
        for (std::size_t number = 0; number < mesh.levels.size(); ++number) {
            const Level& level = mesh.levels[number];
            for (std::size_t box = 0; box < level.boxes.size(); ++box) {
                const CellBox& cells = level.boxes[box];
                std::printf("%zu %d %d %d %d %d %d %d\n", number, cells.lo[0], cells.lo[1],
                            cells.lo[2], cells.hi[0], cells.hi[1], cells.hi[2], level.owners[box]);
            }
        }
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
