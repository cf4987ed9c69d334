// SPDX-License-Identifier: Apache-2.0
// How far an interrupted run came, told by its Records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/record.hpp"

namespace tailrace::core {

struct Finished {
    std::string run_id;             ///< empty: no such run
    std::uint64_t repetitions = 0;  ///< measured ones that ended well
    std::string host;               ///< where they ran
};

/// The last run in `results` that is the one of `frame`: the same kernel, configuration, ranks,
/// libraries and commit. Lines that are no Record are passed over; a file that is not there has no
/// run.  [local]
/// @throws Error where the file cannot be read
[[nodiscard]] Finished finished_run(const std::filesystem::path& results, const Record& frame);

}  // namespace tailrace::core
