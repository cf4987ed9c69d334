// SPDX-License-Identifier: Apache-2.0
// A file for each rank, in any format: `rank_N_NAME` holds what rank N writes, and nothing else.
#pragma once

#include <filesystem>
#include <memory>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::split {

/// "out/rank_3_test.h5" for "out/test.h5".  [local]
[[nodiscard]] std::filesystem::path file_of_rank(const std::filesystem::path& path, int rank);

/// As formats::open_sink. The first dimension of every object must be cut evenly, rank by rank;
/// each rank writes into its part only.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Sink> open_sink_per_process(const comm::Comm& comm,
                                                                const core::Target& target,
                                                                const formats::Options& options,
                                                                core::Phases& phases);

/// The files of `ranks` ranks as one.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source_per_process(
    const comm::Comm& comm, const std::filesystem::path& path, const formats::Options& options,
    core::Phases& phases);

}  // namespace tailrace::formats::split
