// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of a history run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/config.hpp"
#include "kernels/history/geometry.hpp"
#include "runner/plan.hpp"

namespace tailrace::kernels::history {

inline constexpr const char* environment_prefix = "TAILRACE_HISTORY_";

struct Inputs : runner::Plan {
    Geometry geometry;
    std::vector<Variable> variables;  ///< of each collection: coordinates first, then fields
    std::uint64_t fields = 0;         ///< of all collections
    std::uint64_t collections = 1;
    std::uint64_t steps = 0, records_per_file = 1, records_per_day = 1;

    /// Of a step, by the date of the first one in its file.  [local]
    [[nodiscard]] std::filesystem::path file_of(std::uint64_t step,
                                                std::uint64_t collection = 1) const;
    /// Extents of a chunk: of what has records one record, cut where that is large. [local]
    [[nodiscard]] core::Extents chunk_of(const Variable& variable) const;
    [[nodiscard]] std::uint64_t bytes_of_step(std::uint64_t step) const;  ///< [local]
};

/// The keys of tailrace-history, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// The plan; everything that one process can check.  [local]
/// @param ranks  of the model
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

}  // namespace tailrace::kernels::history
