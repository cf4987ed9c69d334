// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "intent/profile/profile_json.hpp"
#include "intent/spool/merge.hpp"
#include "modules.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace::python {

namespace {

std::string checked_profile(const std::string& text, const std::string& where) {
    nb::gil_scoped_release released;
    return intent::to_json(intent::profile_from_json(text, where));
}

std::string profile_of_spools(const std::string& folder, const std::string& command) {
    nb::gil_scoped_release released;
    return intent::to_json(intent::spool::merge_folder(folder, command));
}

}  // namespace

void add_intent(nb::module_& module) {
    module.def("profile_schema", &intent::profile_schema, "JSON Schema of tailrace-profile/1.");
    module.def("checked_profile", &checked_profile, "text"_a, "where"_a,
               "A profile read and written again, so that it is known to be one.");
    module.def("profile_of_spools", &profile_of_spools, "folder"_a, "command"_a,
               "The profile of a run, from the spools that its processes left in a folder.");
}

}  // namespace tailrace::python
