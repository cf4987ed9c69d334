// SPDX-License-Identifier: Apache-2.0
// The inputs of the history kernel: the grid of a model, its fields, days and records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/schema.hpp"
#include "kernels/run/plan.hpp"

namespace tailrace::kernels::history {

inline constexpr const char* environment_prefix = "TAILRACE_HISTORY_";

struct Inputs : run::Plan {
    std::uint64_t im = 0, jm = 0, km = 0;  ///< cells along longitude, latitude, level
    std::uint64_t fields_3d = 0, fields_2d = 0;
    std::uint64_t days = 0, records = 0;  ///< files, and steps in each
    std::uint64_t ranks = 0;
    bool by_server = false;
    std::uint64_t servers = 0;

    /// time, then the three-dimensional fields, then the others.  [local]
    [[nodiscard]] std::vector<core::Object> objects() const;
    /// A record, or all times.  [local]
    [[nodiscard]] core::Extents chunk_of(const core::Object& object) const;
    /// "history.20000101.nc4" of day 0.  [local]
    [[nodiscard]] std::filesystem::path file_of(std::uint64_t day) const;
    /// Bytes of one record of all objects.  [local]
    [[nodiscard]] std::uint64_t record_bytes() const;
    /// Rows of a rank, a band of latitudes; it may have none.  [local]
    [[nodiscard]] std::uint64_t first_row(std::uint64_t rank) const { return jm * rank / ranks; }
};

[[nodiscard]] core::KeyTable key_table();
/// @throws core::Error  [local]
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

/// Of an element of an object: whole numbers below 2^24, which a float32 holds; hours for time.
/// Neighbours, fields and records differ.  [local]
/// @param element  (level * jm + row) * im + column
[[nodiscard]] inline float value_of(std::uint64_t object, std::uint64_t step,
                                    std::uint64_t element) noexcept {
    return static_cast<float>((element + 7919 * object + 104729 * step) % (1U << 24));
}

}  // namespace tailrace::kernels::history
