// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of a particle run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config.hpp"
#include "kernels/particle/layout.hpp"
#include "runner/plan.hpp"

namespace tailrace::kernels::particle {

inline constexpr const char* environment_prefix = "TAILRACE_PARTICLE_";

enum class ReadOption { none, full, partial, strided };

struct Inputs : runner::Plan {
    Layout layout;
    std::uint64_t steps = 1;
    std::optional<core::Extents> chunk;             ///< of an object in the file; none: contiguous
    bool file_per_process = false;                  ///< rank_N_NAME each
    std::filesystem::path csv_file, read_csv_file;  ///< empty: none
    ReadOption read_option = ReadOption::none;
    std::uint64_t particles_to_read = 0;  ///< of each rank, for partial
    Blocks blocks_to_read;                ///< for strided

    /// Bytes that a rank writes in a step, and those of all ranks and steps.  [local]
    [[nodiscard]] std::uint64_t bytes_per_rank() const;
    [[nodiscard]] std::uint64_t bytes() const;
    /// Bytes that the file takes at most; 0 where that is not known before.  [local]
    [[nodiscard]] std::uint64_t reserve_bytes() const;
};

/// The keys of tailrace-particle, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// The plan; everything that one process can check.  [local]
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

}  // namespace tailrace::kernels::particle
