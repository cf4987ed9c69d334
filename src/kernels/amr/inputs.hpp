// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of an amr run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "kernels/amr/mesh.hpp"
#include "kernels/amr/selection.hpp"
#include "runner/plan.hpp"

namespace tailrace::kernels::amr {

inline constexpr const char* environment_prefix = "TAILRACE_AMR_";

struct Inputs : runner::Plan {
    MeshPlan mesh;
    std::uint64_t components = 1;
    std::uint64_t per_cell = 0;  ///< particles
    std::uint64_t steps = 1;
    std::uint64_t files = 1;    ///< of boxes, in the native folder
    std::string grids;          ///< folder with files Level_<n>, which give the boxes; empty: none
    Region region{};            ///< that the pattern `region` reads
    bool shared_output = true;  ///< the file that all ranks share
    bool native_output = true;  ///< the folder
    bool particle_output = true;  ///< the checkpoint of particles in it
};

/// The keys of tailrace-amr, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// The plan; everything that one process can check without the files of `grids`.  [local]
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

/// The mesh of the inputs.  [local]
/// @param grid_files  the texts of grids/Level_0 and so on, where inputs.grids names a folder
/// @throws core::Error{bad_input} at the line of the key
[[nodiscard]] Mesh mesh_of(const Inputs& inputs, const std::vector<std::string>& grid_files = {});

/// The file with the boxes of a level.  [local]
[[nodiscard]] std::filesystem::path grid_file(const Inputs& inputs, std::uint64_t level);
/// @throws core::Error at the key grids_from_file  [local]
[[nodiscard]] std::string text_of_file(const Inputs& inputs, const std::filesystem::path& file);

/// The same for the native folder: its name, and nothing of the shared format.  [local]
[[nodiscard]] Inputs native_inputs(Inputs inputs);
/// The name of the plot file of a step: digits at the end of the stem count on, others get some.
/// [local]
/// @param folder  its name has no ending, whatever dots it has
[[nodiscard]] std::filesystem::path of_step(const std::filesystem::path& first, std::uint64_t step,
                                            std::uint64_t steps, bool folder);

}  // namespace tailrace::kernels::amr
