// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"

namespace tailrace::intent {

namespace {

constexpr std::size_t most_evidence = 24;

/// Which of the profiles of its object say something.
std::vector<std::uint64_t> speakers(const Statement& statement,
                                    const std::vector<std::uint64_t>& profiles) {
    if (statement.value == "not known") return {};
    return statement.said_by.empty() ? profiles : statement.said_by;
}

/// The value of each profile that has one.
std::vector<Variant> variants_of(const Statement& statement,
                                 const std::vector<std::uint64_t>& profiles) {
    if (!statement.by_profile.empty()) return statement.by_profile;
    std::vector<Variant> variants;
    for (const std::uint64_t profile : speakers(statement, profiles))
        variants.push_back({profile, statement.value});
    return variants;
}

bool of_earlier_profile(const Evidence& a, const Evidence& b) { return a.profile < b.profile; }

void add_evidence(Statement& to, const Statement& from) {
    for (const Evidence& one : from.evidence)
        if (to.evidence.size() < most_evidence) to.evidence.push_back(one);
}

/// Puts what another, smaller run says to a statement.
void join(Statement& to, const Statement& from, const std::vector<std::uint64_t>& to_profiles,
          const std::vector<std::uint64_t>& from_profiles) {
    std::vector<std::uint64_t> said_by = speakers(to, to_profiles);
    for (const std::uint64_t one : speakers(from, from_profiles)) said_by.push_back(one);
    if (from.value == "not known") {
        to.said_by = std::move(said_by);
        return;
    }
    if (to.value == "not known") {
        to = from;
        to.said_by = std::move(said_by);
        return;
    }
    // What was declared of one run holds for all; the others are held against it no more.
    const bool declared =
        (to.confidence == Confidence::full) != (from.confidence == Confidence::full);
    if (declared) {
        Statement kept = to.confidence == Confidence::full ? to : from;
        add_evidence(kept, to.confidence == Confidence::full ? from : to);
        to = std::move(kept);
        to.said_by = std::move(said_by);
        return;
    }
    const bool agree = to.value == from.value && !to.changes && !from.changes;
    if (!agree) {
        to.by_profile = variants_of(to, to_profiles);
        for (const Variant& one : variants_of(from, from_profiles)) to.by_profile.push_back(one);
        std::sort(to.by_profile.begin(), to.by_profile.end(),
                  [](const Variant& a, const Variant& b) { return a.profile < b.profile; });
        to.changes = true;
    }
    to.said_by = std::move(said_by);
    to.confidence = std::max(to.confidence, from.confidence);  // the weaker of the two
    add_evidence(to, from);
    if (to.confidence != Confidence::full)
        std::stable_sort(to.evidence.begin(), to.evidence.end(), of_earlier_profile);
}

bool is_of_lost(const Evidence& one) { return one.name == declarations_not_kept; }

bool was_lost(const Statement& statement) {
    return std::ranges::any_of(statement.evidence, is_of_lost);
}

/// Where runs do not agree the most careful one counts: what one of them flushes is to last.
void join_reliability(Statement& to, const Statement& from,
                      const std::vector<std::uint64_t>& to_profiles,
                      const std::vector<std::uint64_t>& from_profiles) {
    const bool alike = (to.confidence == Confidence::full) == (from.confidence == Confidence::full);
    const bool careful = alike && more_careful(from.value, to.value);
    join(to, from, to_profiles, from_profiles);
    if (careful) to.value = from.value;
    if (was_lost(to) || was_lost(from)) {
        to.value = "durable";
        to.confidence = Confidence::low;
        if (!was_lost(to))
            std::ranges::copy_if(from.evidence, std::back_inserter(to.evidence), is_of_lost);
    }
}

template <class T>
void take_profiles(T& to, const T& from) {
    for (const std::uint64_t profile : from.profiles)
        if (std::find(to.profiles.begin(), to.profiles.end(), profile) == to.profiles.end())
            to.profiles.push_back(profile);
    std::sort(to.profiles.begin(), to.profiles.end());
}

/// Statements of both; the other fields stay those of the larger run.
template <class T, class... Members>
void join_object(T& to, const T& from, Members... members) {
    T theirs = from;
    hold_against(theirs, to);
    hold_against(to, from);
    (join(to.*members, from.*members, to.profiles, from.profiles), ...);
    join_reliability(to.reliability, from.reliability, to.profiles, from.profiles);
    to.declared.insert(to.declared.end(), theirs.declared.begin(), theirs.declared.end());
    std::stable_sort(
        to.declared.begin(), to.declared.end(),
        [](const DeclaredIntent& a, const DeclaredIntent& b) { return a.profile < b.profile; });
    take_profiles(to, from);
}

void join_dataset(DatasetIntent& to, const DatasetIntent& from) {
    join_object(to, from, &DatasetIntent::type, &DatasetIntent::mode, &DatasetIntent::append,
                &DatasetIntent::reuse, &DatasetIntent::order, &DatasetIntent::sharing_pattern,
                &DatasetIntent::how_shared, &DatasetIntent::collective,
                &DatasetIntent::full_coverage);
}

/// A layer that one of them lacks says nothing there.
void join_layers(FileIntent& to, const FileIntent& from) {
    constexpr std::array members{&LayerIntent::type, &LayerIntent::order, &LayerIntent::how_shared,
                                 &LayerIntent::collective, &LayerIntent::alignment};
    for (const auto& [name, theirs] : from.layers) {
        const auto [found, fresh] = to.layers.try_emplace(name, theirs);
        if (!fresh) continue;
        for (const auto member : members) found->second.*member = Statement{};
    }
    const LayerIntent none;
    for (auto& [name, mine] : to.layers) {
        const auto found = from.layers.find(name);
        const LayerIntent& theirs = found == from.layers.end() ? none : found->second;
        for (const auto member : members)
            join(mine.*member, theirs.*member, to.profiles, from.profiles);
    }
}

void join_file(FileIntent& to, const FileIntent& from) {
    join_layers(to, from);
    join_object(to, from, &FileIntent::type, &FileIntent::mode, &FileIntent::created,
                &FileIntent::append, &FileIntent::metadata_dominated, &FileIntent::reuse,
                &FileIntent::order, &FileIntent::sharing_pattern, &FileIntent::how_shared,
                &FileIntent::collective);
}

void join_workload(WorkloadIntent& to, const WorkloadIntent& from,
                   const std::vector<std::uint64_t>& profiles, std::uint64_t number) {
    for (const auto member : {&WorkloadIntent::type, &WorkloadIntent::sharing_pattern,
                              &WorkloadIntent::metadata_dominated, &WorkloadIntent::rhythm})
        join(to.*member, from.*member, profiles, {number});
    join_reliability(to.reliability, from.reliability, profiles, {number});
}

/// Paths of the joined intents by what they stand for.
using Paths = std::map<std::string, std::string>;

void join_datasets(Intents& to, Intents& from, const Paths& renamed) {
    for (auto& [key, intent] : from.datasets) {
        const std::string& path = renamed.at(intent.filename);
        const std::string mine = path + key.substr(intent.filename.size());
        const auto found = to.datasets.find(mine);
        if (found != to.datasets.end()) {
            join_dataset(found->second, intent);
            continue;
        }
        intent.filename = path;
        intent.dataset_name = mine;
        to.datasets.emplace(mine, std::move(intent));
    }
}

/// Puts the files and datasets of another, smaller run to what is there.
void join(Intents& to, Intents from, Paths& paths, const Paths& identities) {
    Paths renamed;
    for (auto& [path, intent] : from.files) {
        const std::string& mine = paths.emplace(identities.at(path), path).first->second;
        renamed[path] = mine;
        const auto [found, fresh] = to.files.try_emplace(mine, intent);
        if (!fresh) join_file(found->second, intent);
    }
    join_datasets(to, from, renamed);
}

/// More ranks, then more bytes; the rest is there so that the order of the profiles never decides.
bool larger(const Intents& a, const Intents& b) {
    const auto size = [](const Intents& one) {
        const WorkloadIntent& all = one.workload;
        const std::uint64_t written = all.volume.bytes_written.value_or(0);
        return std::tuple(all.ranks, all.volume.bytes_read.value_or(0) + written, written,
                          one.files.size());
    };
    const auto name = [](const Intents& one) {
        const ProfileSource& source = one.profiles.front();
        return std::tie(source.start, source.command, source.path);
    };
    if (size(a) != size(b)) return size(a) > size(b);
    return name(a) < name(b);
}

}  // namespace

std::vector<std::uint64_t> largest_first(const std::vector<Intents>& single) {
    std::vector<std::uint64_t> numbers(single.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::uint64_t a, std::uint64_t b) {
        return larger(single[a], single[b]);
    });
    return numbers;
}

Intents joined(const std::vector<Intents>& single, const Names& names, OtherPaths& others) {
    const Paths identities = same_files(names);
    const std::vector<std::uint64_t> numbers = largest_first(single);
    Intents all = single[numbers.front()];
    all.profiles.clear();
    for (const Intents& one : single) all.profiles.push_back(one.profiles.front());
    Paths paths;
    for (const auto& [path, intent] : all.files) paths.emplace(identities.at(path), path);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const Intents& next = single[numbers[i]];
        const std::vector<std::uint64_t> before(numbers.begin(),
                                                numbers.begin() + static_cast<std::ptrdiff_t>(i));
        join_workload(all.workload, next.workload, before, numbers[i]);
        join(all, next, paths, identities);
    }
    for (const Intents& one : single)
        for (const auto& [path, intent] : one.files)
            if (const std::string& other = paths.at(identities.at(path)); other != path)
                others.emplace(path, other);
    return all;
}

}  // namespace tailrace::intent
