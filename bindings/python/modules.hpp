// SPDX-License-Identifier: Apache-2.0
// The parts of tailrace._core; each adds its functions.
#pragma once

#include <nanobind/nanobind.h>

namespace tailrace::python {

void add_statistics(nanobind::module_& module);
/// Only where xxHash was found when building; the package has a wheel to fall back on.
void add_hash(nanobind::module_& module);
/// Profiles and intents; only where nlohmann/json was found when building.
void add_intent(nanobind::module_& module);
/// Rules and plans; where add_intent is.
void add_plan(nanobind::module_& module);

}  // namespace tailrace::python
