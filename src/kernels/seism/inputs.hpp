// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of a run: every key known, every default filled in, every
// contradiction found before a file is touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config.hpp"
#include "kernels/seism/fill.hpp"
#include "kernels/seism/geometry.hpp"
#include "kernels/seism/plugin.hpp"
#include "runner/plan.hpp"

namespace tailrace::kernels::seism {

inline constexpr const char* object_path = "/chunked";
inline constexpr const char* environment_prefix = "TAILRACE_SEISM_";

struct Inputs : runner::Plan {
    Geometry geometry;
    std::optional<core::Extents> chunk;  ///< x, y, z; none: contiguous
    FillKind fill = FillKind::rank;
    PluginCall plugin;

    /// Bytes that the file takes at most, padding of chunks included, for the reservation; 0 where
    /// that is not known before (compression).  [local]
    [[nodiscard]] std::uint64_t reserve_bytes() const;
};

/// The keys of tailrace-seism, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// The plan; everything that one process can check.  [local]
/// @param ranks  of the run; the grid must match
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

}  // namespace tailrace::kernels::seism
