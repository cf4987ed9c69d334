// SPDX-License-Identifier: Apache-2.0
// Which derived statements contradict a declared one.
#include <array>
#include <string_view>

#include "intent/intents/declared.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

using View = std::string_view;

bool reads(View type) { return type != "write_only" && type != "no_data"; }
bool writes(View type) { return type != "read_only" && type != "no_data"; }
bool after(View type) { return type == "read_after_write" || type == "write_once_read_many"; }

/// A direction that the declaration excludes, or the other order of the two.
bool types(View declared, View seen) {
    if (seen == "no_data") return false;
    if ((reads(seen) && !reads(declared)) || (writes(seen) && !writes(declared))) return true;
    return (after(declared) && seen == "read_before_write") ||
           (declared == "read_before_write" && after(seen));
}

/// Something was done again that the declaration excludes; that it was not done yet says nothing.
bool reuses(View declared, View seen) {
    const auto has = [](View one, View part) { return one.find(part) != View::npos; };
    return (has(seen, "re_read") && !has(declared, "re_read")) ||
           (has(seen, "rewritten") && !has(declared, "rewritten"));
}

bool collectives(View declared, View seen) {
    return (declared == "requested") == (seen == "not_requested");
}

bool producers(View declared, View seen) { return (declared == "no") == (seen == "yes"); }

/// One process, or one transfer, has no pattern that could be another.
bool patterns(View declared, View seen) {
    constexpr std::array<View, 5> single{"one_transfer", "private", "independent", "serial",
                                         "one_writer"};
    for (const View one : single)
        if (seen == one) return false;
    return declared != seen;
}

bool differ(View declared, View seen) { return declared != seen; }

struct Test {
    View key;
    bool (*contradicts)(View declared, View seen);
};
constexpr std::array<Test, 11> tests{{
    {"type", types},
    {"append", differ},
    {"reuse", reuses},
    {"order", patterns},
    {"sharing_pattern", patterns},
    {"how_shared", patterns},
    {"collective", collectives},
    {"producer_consumer", producers},
    {"reliability", differ},
    {"metadata_dominated", differ},
    {"full_coverage", differ},
}};

std::string text_of(const Evidence& one) {
    std::string text = one.name + " ";
    if (const auto* word = std::get_if<std::string>(&one.value)) text += *word;
    if (const auto* number = std::get_if<std::uint64_t>(&one.value))
        text += std::to_string(*number);
    if (const auto* real = std::get_if<double>(&one.value)) text += std::to_string(*real);
    return one.unit.empty() || one.unit == "1" ? text : text + " " + one.unit;
}

}  // namespace

std::optional<std::string> against(const std::string& key, const std::string& word,
                                   const Statement& derived) {
    if (derived.value == "not known" || derived.confidence == Confidence::low) return std::nullopt;
    for (const Test& test : tests) {
        if (test.key != key || !test.contradicts(word, derived.value)) continue;
        std::string text = "the profile says " + derived.value;
        std::string numbers;
        for (const Evidence& one : derived.evidence)
            if (std::get_if<Extents>(&one.value) == nullptr)
                numbers += (numbers.empty() ? "" : ", ") + text_of(one);
        return numbers.empty() ? text : text + " (" + numbers + ")";
    }
    return std::nullopt;
}

std::optional<std::string> against(const std::string& what, std::uint64_t declared,
                                   const Count& seen) {
    if (!seen || *seen == 0) return std::nullopt;
    if (*seen / 2 <= declared && declared / 2 <= *seen) return std::nullopt;
    return "the profile says " + what + " " + size_text(*seen);
}

}  // namespace tailrace::intent
