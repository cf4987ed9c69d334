// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of a slab run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "kernels/slab/geometry.hpp"
#include "runner/plan.hpp"

namespace tailrace::kernels::slab {

inline constexpr const char* environment_prefix = "TAILRACE_SLAB_";

enum class FillKind { rank, position };

struct Inputs : runner::Plan {
    Geometry geometry;
    std::vector<Axis> axes;              ///< one dataset for each, written in this order
    std::optional<core::Extents> chunk;  ///< long, short; none: contiguous
    FillKind fill = FillKind::position;

    /// "/dset_1" (long fast), "/dset_2" (long slow) or "/dset_3" (short split).  [local]
    [[nodiscard]] static std::string path_of(Axis axis);
    /// Extents of a chunk in the file; empty: contiguous.  [local]
    [[nodiscard]] core::Extents chunk_of(Axis axis) const;
    /// Bytes that the file takes at most; 0 where that is not known before.  [local]
    [[nodiscard]] std::uint64_t reserve_bytes() const;
};

/// The keys of tailrace-slab, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// `n1 n2 T|F`, each as far as it is there, as key=value; other words stay as they are.  [local]
/// @throws core::Error{bad_input}
[[nodiscard]] std::vector<std::string> from_classic(const std::vector<std::string>& words);

/// The plan; everything that one process can check.  [local]
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

}  // namespace tailrace::kernels::slab
