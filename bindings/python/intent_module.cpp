// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "intent/declare/declaration.hpp"
#include "intent/intents/derive.hpp"
#include "intent/intents/intents_json.hpp"
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

std::string outcomes_of_spools(const std::string& folder) {
    nb::gil_scoped_release released;
    return intent::spool::outcomes_of_folder(folder);
}

/// Paths and texts of profiles.
using Documents = std::vector<std::pair<std::string, std::string>>;

std::string intents(const Documents& documents, const Documents& declarations, bool classic,
                    bool brief) {
    nb::gil_scoped_release released;
    std::vector<intent::NamedProfile> profiles;
    for (const auto& [path, text] : documents)
        profiles.push_back({path, intent::profile_from_json(text, path)});
    intent::declare_of(profiles, declarations);
    intent::Intents found = intent::intents_of(profiles);
    if (brief) return intent::to_brief_json(std::move(found));
    return classic ? intent::to_classic_json(found) : intent::to_json(found);
}

std::string checked_intents(const std::string& text, const std::string& where) {
    nb::gil_scoped_release released;
    return intent::to_json(intent::intents_from_json(text, where));
}

std::string checked_declarations(const std::string& text, const std::string& where) {
    return document_text(intent::declare::document_from_json(text, where));
}

}  // namespace

void add_intent(nb::module_& module) {
    module.def("profile_schema", &intent::profile_schema, "JSON Schema of tailrace-profile/1.");
    module.def("checked_profile", &checked_profile, "text"_a, "where"_a,
               "A profile read and written again, so that it is known to be one.");
    module.def("profile_of_spools", &profile_of_spools, "folder"_a, "command"_a,
               "The profile of a run, from the spools that its processes left in a folder.");
    module.def("outcomes_of_spools", &outcomes_of_spools, "folder"_a,
               "What became of a plan, as JSON, from the spools that the processes left.");
    module.def("intents_schema", &intent::intents_schema, "JSON Schema of tailrace-intents/1.");
    module.def("checked_intents", &checked_intents, "text"_a, "where"_a,
               "Intents read and written again, so that they are known to be that.");
    module.def("intents", &intents, "profiles"_a, "declarations"_a = Documents{},
               "classic"_a = false, "brief"_a = false,
               "The intents in profiles, given as pairs of path and text, with what is declared of "
               "their files: as tailrace-intents/1, or in the published H5Intent form. brief: of "
               "datasets only what they are and how much they move.");
    module.def("declarations_schema", &intent::declare::declarations_schema,
               "JSON Schema of tailrace-declarations/1.");
    module.def(
        "checked_declarations", &checked_declarations, "text"_a, "where"_a,
        "Declarations by pattern read and written again, so that they are known to be that.");
}

}  // namespace tailrace::python
