// SPDX-License-Identifier: Apache-2.0
// What the file of a kernel says about itself.
#pragma once

#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/schema.hpp"

namespace tailrace::runner {

/// Adds root attributes: `kernel`, `schema` ("tailrace-seism/1") and every effective parameter but
/// those that are left out. Empty lists have no attribute: not every format can store them.
/// [local]
void describe(core::Schema& schema, const std::string& kernel, const core::Config& config,
              const std::vector<std::string>& left_out);

}  // namespace tailrace::runner
