// SPDX-License-Identifier: Apache-2.0
#include "intent/declare/match.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace tailrace::intent::declare {

namespace {

/// Characters that stand for themselves; more than any path has where all of them do.
std::size_t literals(const std::string& pattern) {
    constexpr std::size_t exact = 1U << 20;
    const bool wild = pattern.find_first_of("*?[\\") != std::string::npos;
    if (!wild) return pattern.front() == '/' ? 2 * exact : exact;
    const auto count = std::count_if(pattern.begin(), pattern.end(),
                                     [](char c) { return c != '*' && c != '?' && c != '['; });
    return static_cast<std::size_t>(count);
}

/// The declarations whose pattern matches one of the names, the one that wins last.
template <class One>
std::vector<const One*> matching(const std::vector<One>& all, const Names& names) {
    std::vector<const One*> found;
    for (const One& one : all)
        if (std::ranges::any_of(names,
                                [&](const auto& name) { return matches(one.pattern, name); }))
            found.push_back(&one);
    std::reverse(found.begin(), found.end());  // the first of equals wins
    std::stable_sort(found.begin(), found.end(), [](const One* a, const One* b) {
        return literals(a->pattern) < literals(b->pattern);
    });
    return found;
}

void overlay(Values& below, const Values& above) {
    for (const auto& [name, value] : above) below[name] = value;
}

}  // namespace

bool matches(const std::string& pattern, const std::string& path) {
    if (pattern.empty()) return false;
    const char* from = path.c_str();
    if (pattern.front() != '/') {
        auto parts = 1 + std::count(pattern.begin(), pattern.end(), '/');
        std::size_t at = path.size();
        for (; parts > 0 && at != std::string::npos; --parts)
            at = at == 0 ? std::string::npos : path.rfind('/', at - 1);
        if (at != std::string::npos) from += at + 1;
    }
    return fnmatch(pattern.c_str(), from, FNM_PATHNAME) == 0;
}

OfFile resolve(const Document& document, const Names& names) {
    OfFile made;
    for (const OfFiles* one : matching(document.files, names)) {
        overlay(made.values, one->of.values);
        // In front: where two patterns of datasets are alike, the first wins.
        made.datasets.insert(made.datasets.begin(), one->of.datasets.begin(),
                             one->of.datasets.end());
    }
    return made;
}

Values resolve(const OfFile& of, const std::string& path) {
    Values values;
    for (const OfDatasets* one : matching(of.datasets, {path})) overlay(values, one->values);
    return values;
}

std::vector<std::string> without_match(const Document& document,
                                       const std::vector<std::string>& paths) {
    std::vector<std::string> found;
    for (const OfFiles& one : document.files)
        if (std::none_of(paths.begin(), paths.end(),
                         [&](const std::string& path) { return matches(one.pattern, path); }))
            found.push_back(one.pattern);
    return found;
}

}  // namespace tailrace::intent::declare
