// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/plan_json.hpp"

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/json/schema.hpp"
#include "intent/plan/fields.hpp"

namespace tailrace {
namespace intent {

namespace {

constexpr json::Kind plan_kind{"tailrace-plan/1", "plan",
                               "`tailrace advise profile.json -o plan.json` makes one", true};

/// The document is the plan and its hash.
struct Hashed {
    std::optional<std::string> hash;
    plan::Plan plan;
};

}  // namespace

}  // namespace intent

template <>
struct json::Fields<intent::Hashed> {
    static constexpr std::string_view name = "hashed_plan";
    static void visit(auto& v, auto& s) {
        v("hash", s.hash,
          "XXH3-128 over the compiled settings, in hexadecimal digits; absent: written by hand.");
        Fields<intent::plan::Plan>::visit(v, s.plan);
    }
};

namespace intent::plan {

std::string to_json(const Plan& plan, const Hasher& hasher) {
    const Hashed hashed{hash_of(plan, "plan", hasher), plan};
    return json::text_of(json::document_of(plan_kind.schema, hashed));
}

Plan plan_from_json(std::string_view text, const std::string& where, const Hasher& hasher) {
    Hashed hashed;
    json::read(json::parse(text, where, plan_kind), hashed, where, "");
    const std::string hash = hash_of(hashed.plan, where, hasher);
    if (hashed.hash && *hashed.hash != hash)
        throw core::Error(core::Code::bad_input,
                          "its settings do not give the hash that stands in it: they give " + hash +
                              ", not " + core::in_quotes(*hashed.hash),
                          where, "where you changed the plan yourself take the key \"hash\" out");
    return hashed.plan;
}

std::string plan_schema() {
    return json::text_of(json::document_schema<Hashed>(
        std::string(plan_kind.schema),
        "What would be set in which file and dataset, and why. Values are literals or named "
        "functions of what HDF5 requires to be equal on all ranks; bytes and elements are said in "
        "the names. Of several patterns that match, the exact path wins, then the one with the "
        "most literal characters, then the first."));
}

}  // namespace intent::plan
}  // namespace tailrace
