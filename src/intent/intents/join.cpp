// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"

namespace tailrace::intent {

namespace {

constexpr std::size_t most_evidence = 24;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

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

/// The file of another run's that `path` is: the same path, or the same pattern and last part.
std::map<std::string, FileIntent>::iterator like(std::map<std::string, FileIntent>& files,
                                                 const std::string& path,
                                                 const FileIntent& intent) {
    const auto same = files.find(path);
    if (same != files.end()) return same;
    return std::find_if(files.begin(), files.end(), [&](const auto& one) {
        return one.second.naming.pattern == intent.naming.pattern &&
               last_part(one.first) == last_part(path);
    });
}

}  // namespace

void join(Intents& to, Intents from, bool prefer) {
    std::map<std::string, std::string> renamed;
    std::vector<std::uint64_t> before;
    for (std::uint64_t i = 0; i < to.profiles.size(); ++i) before.push_back(i);
    join_workload(to.workload, from.workload, before, to.profiles.size(), prefer);
    to.profiles.insert(to.profiles.end(), from.profiles.begin(), from.profiles.end());
    for (auto& [path, intent] : from.files) {
        const auto found = like(to.files, path, intent);
        renamed[path] = found == to.files.end() ? path : found->first;
        if (found == to.files.end())
            to.files.emplace(path, intent);
        else
            join_file(found->second, intent, prefer);
    }
    for (auto& [key, intent] : from.datasets) {
        const std::string path = key.substr(intent.filename.size());
        const std::string mine = renamed[intent.filename] + path;
        const auto found = to.datasets.find(mine);
        if (found != to.datasets.end()) {
            join_dataset(found->second, intent, prefer);
            continue;
        }
        intent.filename = renamed[intent.filename];
        intent.dataset_name = mine;
        to.datasets.emplace(mine, std::move(intent));
    }
}

}  // namespace tailrace::intent
