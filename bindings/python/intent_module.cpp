// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "intent/profile/profile_json.hpp"
#include "modules.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace::python {

namespace {

std::string checked_profile(const std::string& text, const std::string& where) {
    nb::gil_scoped_release released;
    return intent::to_json(intent::profile_from_json(text, where));
}

}  // namespace

void add_intent(nb::module_& module) {
    module.def("profile_schema", &intent::profile_schema, "JSON Schema of tailrace-profile/1.");
    module.def("checked_profile", &checked_profile, "text"_a, "where"_a,
               "A profile read and written again, so that it is known to be one.");
}

}  // namespace tailrace::python
