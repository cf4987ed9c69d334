// SPDX-License-Identifier: Apache-2.0
// How far an interrupted run came, told by its Records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "core/record.hpp"

namespace tailrace::core {

struct Finished {
    std::string run_id;                   ///< empty: no such run
    std::set<std::uint64_t> repetitions;  ///< measured ones that ended well
    std::string host;                     ///< where they ran
};

/// The last run in `results` that is the one of `frame`: the same kernel, configuration, ranks,
/// libraries, commit and variables that steer MPI-IO or HDF5. Lines that are no Record are passed
/// over; a file that is not there has no run.  [local]
/// @throws Error where the file cannot be read
[[nodiscard]] Finished finished_run(const std::filesystem::path& results, const Record& frame);

}  // namespace tailrace::core
