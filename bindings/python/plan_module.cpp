// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "intent/plan/plan_json.hpp"
#include "intent/plan/resolve.hpp"
#include "intent/rules/advise.hpp"
#include "intent/rules/for_reads.hpp"
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
                                 documents(declarations), {hashed, TAILRACE_VERSION});
}

std::string table(const Texts& rules) { return intent::rules::table_of(documents(rules)); }

std::string checked_plan(const std::string& text, const std::string& where) {
    return to_json(intent::plan::plan_from_json(text, where, hashed), hashed);
}

nb::bytes compiled_plan(const std::string& text, const std::string& where) {
    const auto bytes = compile(intent::plan::plan_from_json(text, where, hashed), where, hashed);
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

using Extents = std::vector<std::uint64_t>;
/// Path, extents, greatest extents, chunk (empty: none), bytes of an element.
using Dataset = std::tuple<std::string, Extents, Extents, Extents, std::uint64_t>;
/// Key, rule, value, and what is wrong with it.
using Resolved = std::tuple<std::string, std::string, std::optional<intent::Setting>, std::string>;

std::vector<std::vector<Resolved>> resolved_plan(const std::string& text, const std::string& where,
                                                 const std::string& file,
                                                 const std::vector<Dataset>& datasets) {
    const auto bytes = compile(intent::plan::plan_from_json(text, where, hashed), where, hashed);
    std::string_view problem;
    const auto plan = intent::plan::PlanView::decode(bytes, problem);
    std::vector<std::vector<Resolved>> all;
    for (const auto& [path, dims, max_dims, chunk, type_bytes] : datasets) {
        const intent::plan::Surroundings around{dims, max_dims, chunk, type_bytes, 1, 0, 0};
        all.emplace_back();
        for (auto& one : intent::plan::resolve(plan, file, path, around))
            all.back().emplace_back(one.key, one.rule, one.value, one.misfit);
    }
    return all;
}

/// Paths, extents, layout, chunk (empty: none), bytes of an element, whether it has filters.
using InFile =
    std::tuple<std::vector<std::string>, Extents, std::string, Extents, std::uint64_t, bool>;
/// Chunk (empty: as it is), and length and calls of the reads that move the most.
using ForReads = std::tuple<Extents, Extents, std::uint64_t>;

std::vector<std::optional<ForReads>> chunks_for_reads(const std::string& profile,
                                                      const std::string& where,
                                                      const std::string& file,
                                                      const std::vector<InFile>& datasets) {
    std::vector<intent::rules::InFile> asked;
    for (const auto& [paths, dims, layout, chunk, item_bytes, packed] : datasets)
        asked.push_back({paths, dims, chunk, layout, item_bytes, packed});
    std::vector<std::optional<ForReads>> all;
    for (const auto& one : intent::rules::chunks_for_reads({where, profile}, file, asked)) {
        all.emplace_back();
        if (one) all.back() = ForReads{one->chunk, one->length, one->calls};
    }
    return all;
}

std::vector<std::tuple<std::string, double, std::optional<double>>> badly_read(
    const std::string& profile, const std::string& where, const std::string& plan) {
    std::vector<std::byte> bytes;
    std::optional<intent::plan::PlanView> kept;
    if (!plan.empty()) {
        bytes = compile(intent::plan::plan_from_json(plan, where, hashed), where, hashed);
        std::string_view problem;
        kept = intent::plan::PlanView::decode(bytes, problem);
    }
    std::vector<std::tuple<std::string, double, std::optional<double>>> all;
    for (const auto& one : intent::rules::badly_read({where, profile}, kept ? &*kept : nullptr))
        all.emplace_back(one.file, one.times, one.saved_s);
    return all;
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
    module.def("resolved_plan", &resolved_plan, "text"_a, "where"_a, "file"_a, "datasets"_a,
               "What a plan has for new datasets of a file, given as (path, extents, greatest "
               "extents, chunk, bytes of an element); an empty path: the file. For each a list of "
               "(key, rule, value or None, what is wrong with it).");
    module.def("chunks_for_reads", &chunks_for_reads, "profile"_a, "where"_a, "file"_a,
               "datasets"_a,
               "What suits the reads of a profile, for datasets of a file, given as (paths, "
               "extents, layout, chunk, bytes of an element, whether it has filters). For each "
               "(chunk, empty where it lies well; length and calls of its reads), or None.");
    module.def("badly_read", &badly_read, "profile"_a, "where"_a, "plan"_a = "",
               "Files that are only read, in chunks that do not suit the reads: (path, how much "
               "less would be moved, seconds of the run or None), the largest saving first. plan: "
               "that is kept, on top of which they are looked at.");
}

}  // namespace tailrace::python
