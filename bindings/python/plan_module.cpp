// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "intent/plan/plan_json.hpp"
#include "intent/rules/advise.hpp"
#include "intent/rules/site_rules.hpp"
#include "modules.hpp"
#ifdef TAILRACE_HAVE_XXHASH
#include "core/hash.hpp"
#endif

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace::python {

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

#ifdef TAILRACE_HAVE_XXHASH
std::string hashed(std::span<const std::byte> bytes) { return core::hash_hex(bytes); }
#else
/// The package has a wheel to fall back on.
std::string hashed(std::span<const std::byte> bytes) {
    const nb::bytes data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return nb::cast<std::string>(nb::module_::import_("xxhash").attr("xxh3_128_hexdigest")(data));
}
#endif

std::vector<intent::rules::Document> documents(const Texts& texts) {
    std::vector<intent::rules::Document> all;
    for (const auto& [name, text] : texts) all.push_back({name, text});
    return all;
}

std::string advise(const Texts& inputs, const Texts& rules, const std::vector<std::string>& allow,
                   const Texts& declarations) {
    return intent::rules::advise(documents(inputs), documents(rules), allow,
                                 documents(declarations), hashed);
}

std::string table(const Texts& rules) { return intent::rules::table_of(documents(rules)); }

std::string checked_plan(const std::string& text, const std::string& where) {
    return to_json(intent::plan::plan_from_json(text, where, hashed), hashed);
}

nb::bytes compiled_plan(const std::string& text, const std::string& where) {
    const auto bytes = compile(intent::plan::plan_from_json(text, where, hashed), where, hashed);
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void add_plan(nb::module_& module) {
    module.def("plan_schema", &intent::plan::plan_schema, "JSON Schema of tailrace-plan/1.");
    module.def("rules_schema", &intent::rules::rules_schema, "JSON Schema of tailrace-rules/1.");
    module.def("rule_table", &table, "rules"_a,
               "All rules as JSON; those of files, given as (name, text), at the end.");
    module.def("advise", &advise, "inputs"_a, "rules"_a, "allow"_a, "declarations"_a = Texts{},
               "The plan that follows from profiles or intents, given as (name, text).");
    module.def("checked_plan", &checked_plan, "text"_a, "where"_a,
               "A plan read and written again, so that it is known to be one.");
    module.def("compiled_plan", &compiled_plan, "text"_a, "where"_a,
               "The flat form of a plan that hooks read.");
}

}  // namespace tailrace::python
