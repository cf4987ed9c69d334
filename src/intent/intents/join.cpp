// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"

namespace tailrace::intent {

namespace {

constexpr std::size_t most_evidence = 24;

/// The value of each profile that has one.
std::vector<Variant> variants_of(const Statement& statement,
                                 const std::vector<std::uint64_t>& profiles) {
    if (!statement.by_profile.empty()) return statement.by_profile;
    std::vector<Variant> variants;
    for (const std::uint64_t profile : profiles) variants.push_back({profile, statement.value});
    return variants;
}

void join(Statement& to, const Statement& from, const std::vector<std::uint64_t>& to_profiles,
          const std::vector<std::uint64_t>& from_profiles, bool prefer) {
    if (from.value == "not known") return;
    if (to.value == "not known") {
        to = from;
        return;
    }
    // What was declared of one run holds for all; the others are held against it no more.
    const bool declared =
        (to.confidence == Confidence::full) != (from.confidence == Confidence::full);
    if (declared) {
        const Statement& other = to.confidence == Confidence::full ? from : to;
        Statement kept = to.confidence == Confidence::full ? to : from;
        for (const Evidence& one : other.evidence)
            if (kept.evidence.size() < most_evidence) kept.evidence.push_back(one);
        to = std::move(kept);
        return;
    }
    const bool agree = to.value == from.value && !to.changes && !from.changes;
    if (!agree) {
        to.by_profile = variants_of(to, to_profiles);
        for (const Variant& one : variants_of(from, from_profiles)) to.by_profile.push_back(one);
        to.changes = true;
    }
    to.confidence = std::max(to.confidence, from.confidence);  // the weaker of the two
    if (prefer) to.value = from.value;
    for (const Evidence& one : from.evidence)
        if (to.evidence.size() < most_evidence) to.evidence.push_back(one);
}

template <class T>
void take_profiles(T& to, const T& from) {
    for (const std::uint64_t profile : from.profiles)
        if (std::find(to.profiles.begin(), to.profiles.end(), profile) == to.profiles.end())
            to.profiles.push_back(profile);
}

/// Statements of both, other fields of the one with the larger run.
template <class T, class... Members>
void join_object(T& to, const T& from, bool prefer, Members... members) {
    T joined = prefer ? from : to;
    T mine = to, theirs = from;
    hold_against(mine, from);
    hold_against(theirs, to);
    const auto one = [&](Statement T::*member) {
        Statement statement = to.*member;
        join(statement, from.*member, to.profiles, from.profiles, prefer);
        joined.*member = statement;
    };
    (one(members), ...);
    joined.naming = to.naming;
    joined.declared = mine.declared;
    joined.declared.insert(joined.declared.end(), theirs.declared.begin(), theirs.declared.end());
    joined.profiles = to.profiles;
    take_profiles(joined, from);
    to = joined;
}

void join_dataset(DatasetIntent& to, const DatasetIntent& from, bool prefer) {
    const std::string filename = to.filename, name = to.dataset_name;
    join_object(to, from, prefer, &DatasetIntent::type, &DatasetIntent::mode,
                &DatasetIntent::append, &DatasetIntent::reuse, &DatasetIntent::order,
                &DatasetIntent::sharing_pattern, &DatasetIntent::how_shared,
                &DatasetIntent::collective, &DatasetIntent::full_coverage,
                &DatasetIntent::reliability);
    to.filename = filename;
    to.dataset_name = name;
}

void join_file(FileIntent& to, const FileIntent& from, bool prefer) {
    join_object(to, from, prefer, &FileIntent::type, &FileIntent::mode, &FileIntent::append,
                &FileIntent::metadata_dominated, &FileIntent::reuse, &FileIntent::order,
                &FileIntent::sharing_pattern, &FileIntent::how_shared, &FileIntent::collective,
                &FileIntent::reliability);
}

void join_workload(WorkloadIntent& to, const WorkloadIntent& from,
                   const std::vector<std::uint64_t>& profiles, std::uint64_t number, bool prefer) {
    WorkloadIntent joined = prefer ? from : to;
    for (const auto member : {&WorkloadIntent::type, &WorkloadIntent::sharing_pattern,
                              &WorkloadIntent::metadata_dominated, &WorkloadIntent::reliability,
                              &WorkloadIntent::rhythm}) {
        Statement statement = to.*member;
        join(statement, from.*member, profiles, {number}, prefer);
        joined.*member = statement;
    }
    to = joined;
}

/// Paths of the joined intents by what they stand for.
using Paths = std::map<std::string, std::string>;

void join_datasets(Intents& to, Intents& from, const Paths& renamed, bool prefer) {
    for (auto& [key, intent] : from.datasets) {
        const std::string& path = renamed.at(intent.filename);
        const std::string mine = path + key.substr(intent.filename.size());
        const auto found = to.datasets.find(mine);
        if (found != to.datasets.end()) {
            join_dataset(found->second, intent, prefer);
            continue;
        }
        intent.filename = path;
        intent.dataset_name = mine;
        to.datasets.emplace(mine, std::move(intent));
    }
}

/// Puts what another profile says to what is there.
void join(Intents& to, Intents from, Paths& paths, const Paths& identities, bool prefer) {
    std::vector<std::uint64_t> before;
    for (std::uint64_t i = 0; i < to.profiles.size(); ++i) before.push_back(i);
    join_workload(to.workload, from.workload, before, to.profiles.size(), prefer);
    to.profiles.insert(to.profiles.end(), from.profiles.begin(), from.profiles.end());
    Paths renamed;
    for (auto& [path, intent] : from.files) {
        const std::string& mine = paths.emplace(identities.at(path), path).first->second;
        renamed[path] = mine;
        const auto [found, fresh] = to.files.try_emplace(mine, intent);
        if (!fresh) join_file(found->second, intent, prefer);
    }
    join_datasets(to, from, renamed, prefer);
}

}  // namespace

Intents joined(const std::vector<Intents>& single, const Names& names) {
    const Paths identities = same_files(names);
    Intents all = single.front();
    Paths paths;
    for (const auto& [path, intent] : all.files) paths.emplace(identities.at(path), path);
    for (std::size_t i = 1; i < single.size(); ++i) {
        const bool larger = single[i].workload.ranks > all.workload.ranks;
        join(all, single[i], paths, identities, larger);
    }
    return all;
}

}  // namespace tailrace::intent
