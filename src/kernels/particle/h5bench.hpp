// SPDX-License-Identifier: Apache-2.0
// Input files of h5bench, as lines of ours.
#pragma once

#include <string>

namespace tailrace::kernels::particle {

/// Lines `key value` from h5bench's configuration file (a benchmark of type write, and one of type
/// read behind it), from one of its benchmarks or its `configuration` alone, or from its older
/// KEY=VALUE lines; a line of ours stays as it is. A line keeps the number of the one that it comes
/// from wherever that can be. What is left out is logged as a warning.  [local]
/// @param origin  name of the file, for messages
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] std::string lines_of(const std::string& text, const std::string& origin);

}  // namespace tailrace::kernels::particle
