// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/derive.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"

#include "intent/intents/access.hpp"
#include "intent/intents/purpose.hpp"
#include "intent/intents/sharing.hpp"
#include "intent/intents/statements.hpp"
#include "intent/profile/unseen.hpp"

namespace tailrace::intent {

namespace {

std::optional<Span> first_use_of(const File& file) {
    std::optional<Span> span;
    const auto take = [&](const auto& layer) {
        if (layer) span = cover(span, layer->open);
    };
    take(file.hdf5);
    take(file.mpiio);
    take(file.posix);
    take(file.stdio);
    take(file.pnetcdf);
    return span;
}

ProfileSource source_of(const NamedProfile& named) {
    const Profile& profile = named.profile;
    return {named.path,
            profile.origin.kind == OriginKind::darshan ? "darshan" : "hook",
            profile.origin.command,
            profile.origin.start,
            profile.run.ranks,
            profile.run.nodes,
            profile.origin.notes,
            incomplete(profile.origin) ? Known(false) : Known()};
}

/// A direction with less than a hundredth of the bytes (a file of settings, a line of results) does
/// not make the run a mixed one.
bool little(const Count& bytes, const Count& others) {
    return bytes.value_or(0) < others.value_or(0) / 100;
}

std::uint64_t moved(const FileIntent& file) {
    return file.volume.bytes_read.value_or(0) + file.volume.bytes_written.value_or(0);
}

/// The run is not known better than its files; those with less than a hundredth of the bytes do not
/// count.
Confidence sureness_of_types(const std::map<std::string, FileIntent>& files) {
    std::map<Confidence, std::uint64_t> bytes;
    std::uint64_t all = 0;
    for (const auto& [path, file] : files) {
        if (file.type.value == "not known") continue;
        bytes[file.type.confidence] += moved(file);
        all += moved(file);
    }
    std::uint64_t here = 0;
    for (auto one = bytes.rbegin(); one != bytes.rend(); ++one) {
        here += one->second;
        if (here >= all / 100 && (here > 0 || all == 0))
            return std::max(one->first, Confidence::high);
    }
    return Confidence::high;
}

/// What the files of one run say together about their type.
Statement workload_type(const std::map<std::string, FileIntent>& files) {
    std::set<std::string> types;
    Volume volume;
    for (const auto& [path, file] : files) {
        types.insert(file.type.value);
        add(volume, file.volume);
    }
    types.erase("not known");
    if (types.size() > 1) types.erase("no_data");
    Reasons why("run");
    why.note("bytes_read", volume.bytes_read, "bytes")
        .note("bytes_written", volume.bytes_written, "bytes")
        .note("files", Count(files.size()), "files");
    if (types.empty()) return Statement{};
    const Confidence sure = sureness_of_types(files);
    if (types.size() == 1) return why.say(*types.begin(), sure);
    if (little(volume.bytes_read, volume.bytes_written))
        return why.say("write_only", std::max(sure, Confidence::medium));
    if (little(volume.bytes_written, volume.bytes_read))
        return why.say("read_only", std::max(sure, Confidence::medium));
    // Who writes a file once and reads it many times may write others for nobody of this run.
    types.erase("write_only");
    if (types.size() == 1 && types.count("write_once_read_many") > 0)
        return why.say("write_once_read_many", std::max(sure, Confidence::medium));
    if (types.count("read_after_write") + types.count("write_once_read_many") > 0)
        return why.say("read_after_write", std::max(sure, Confidence::medium));
    return why.say("read_write", sure);
}

/// How the run's bytes lie in files: the sharing of the files that hold most of them.
Statement workload_sharing(const std::map<std::string, FileIntent>& files, std::uint64_t ranks) {
    std::map<std::string, std::uint64_t> bytes;
    std::uint64_t all = 0;
    for (const auto& [path, file] : files) {
        const std::uint64_t here = moved(file);
        if (file.sharing_pattern.value != "not known") bytes[file.sharing_pattern.value] += here;
        all += here;
    }
    Reasons why("run");
    for (const auto& [value, count] : bytes) why.note(value, Count(count), "bytes");
    why.note("ranks", Count(ranks), "ranks");
    if (ranks <= 1) return why.say("serial", Confidence::high);
    for (const auto& [value, count] : bytes)
        if (bytes.size() == 1 || (all > 0 && count >= all / 10 * 9))
            return why.say(value, Confidence::high);
    return bytes.empty() ? Statement{} : why.say("mixed", Confidence::high);
}

/// The most careful of all; as sure as the statement on the largest file that says so.
Statement workload_reliability(const std::map<std::string, FileIntent>& files) {
    Reasons why("run");
    std::map<std::string, std::uint64_t> counts;
    std::map<std::string, std::pair<std::uint64_t, Confidence>> largest;
    for (const auto& [path, file] : files) {
        const std::string& value = file.reliability.value;
        ++counts[value];
        const std::uint64_t bytes = file.volume.bytes_written.value_or(0);
        const auto [found, fresh] = largest.try_emplace(value, bytes, file.reliability.confidence);
        if (!fresh && bytes > found->second.first)
            found->second = {bytes, file.reliability.confidence};
    }
    for (const auto& [value, count] : counts) why.note(value, Count(count), "files");
    for (const char* value : {"durable", "recomputable", "scratch"})
        if (counts.count(value) > 0) return why.say(value, largest.at(value).second);
    return Statement{};
}

std::vector<std::string> interfaces_of(const Profile& profile) {
    std::set<std::string> found;
    for (const File& file : profile.files) {
        if (file.hdf5) found.insert("hdf5");
        if (file.pnetcdf) found.insert("pnetcdf");
        if (file.mpiio) found.insert("mpiio");
        if (file.posix) found.insert("posix");
        if (file.stdio) found.insert("stdio");
        for (const Dataset& dataset : file.datasets)
            found.insert(dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf");
    }
    return {found.begin(), found.end()};
}

WorkloadIntent workload_of(const Profile& profile, const Intents& one, std::uint64_t number) {
    WorkloadIntent workload;
    const std::uint64_t ranks = ranks_of(profile.run);
    workload.type = workload_type(one.files);
    workload.sharing_pattern = workload_sharing(one.files, ranks);
    workload.reliability = workload_reliability(one.files);
    std::vector<const Statement*> metadata;
    for (const auto& [path, file] : one.files) metadata.push_back(&file.metadata_dominated);
    workload.metadata_dominated = agreed(metadata, "files", "partly");
    workload.rhythm = rhythm_of(profile, workload.bursts);
    workload.ranks = ranks;
    workload.nodes = profile.run.nodes;
    workload.elapsed_s = profile.run.elapsed_s;
    for (const auto& [path, file] : one.files) add(workload.volume, file.volume);
    workload.interfaces = interfaces_of(profile);
    for (Statement* statement : {&workload.type, &workload.sharing_pattern, &workload.reliability,
                                 &workload.metadata_dominated, &workload.rhythm}) {
        for (Evidence& evidence : statement->evidence) evidence.profile = number;
        // What was lost may have been of another kind; a single process is one for all that.
        if (incomplete(profile.origin) && statement->value != "serial" &&
            statement->confidence == Confidence::high)
            statement->confidence = Confidence::medium;
    }
    return workload;
}

std::vector<PatternIntent> patterns_of(const Names& names, const Intents& intents) {
    std::vector<PatternIntent> patterns;
    for (const PathPattern& pattern : names.patterns) {
        PatternIntent one;
        one.naming = {pattern.pattern, pattern.glob};
        one.name_glob = pattern.name_glob;
        std::set<std::string> paths;
        for (const std::size_t member : pattern.members) paths.insert(names.uses[member].path);
        one.files = paths.size();
        // First those under which a file stands: of other runs it has another path.
        for (const bool there : {true, false})
            for (const std::string& path : paths)
                if (one.examples.size() < 3 && (intents.files.count(path) > 0) == there)
                    one.examples.push_back(path);
        for (const NumberKind kind : pattern.numbers) one.numbers.push_back(name(kind));
        for (const std::string& path : paths)
            if (const auto found = intents.files.find(path);
                found != intents.files.end() && one.sharing_pattern.value == "not known")
                one.sharing_pattern = found->second.sharing_pattern;
        patterns.push_back(one);
    }
    return patterns;
}

/// How many there are, and the bytes of just these, whichever runs they are of.
void count_objects(Intents& intents) {
    intents.workload.files = intents.files.size();
    intents.workload.datasets = intents.datasets.size();
    intents.workload.volume = {};
    intents.workload.layers.clear();
    for (const auto& [path, file] : intents.files) {
        add(intents.workload.volume, file.volume);
        for (const auto& [name, layer] : file.layers)
            add(intents.workload.layers[name], layer.volume);
        // Of HDF5 and PnetCDF a file has no layer: its volume is that of its datasets.
        for (const std::string& name : file.volume.layers)
            if (file.layers.count(name) == 0) add(intents.workload.layers[name], file.volume);
    }
}

}  // namespace

void Names::find_patterns() {
    patterns = patterns_of(uses);
    x_of.assign(uses.size(), 0);
    for (std::size_t i = 0; i < patterns.size(); ++i)
        for (const std::size_t member : patterns[i].members) x_of[member] = i;
}

bool never_opened(const File& file) {
    if (file.hdf5 || file.mpiio || file.pnetcdf || !file.datasets.empty()) return false;
    std::uint64_t failed = 0;
    std::uint64_t opened = 0;
    const auto count = [&](const auto& layer) {
        if (!layer) return;
        failed += layer->failed_opens.value_or(0);
        opened += layer->opens.value_or(0);
    };
    count(file.posix);
    count(file.stdio);
    return failed > 0 && opened == 0;
}

Intents intents_of(const std::vector<NamedProfile>& profiles) {
    OtherPaths others;
    return intents_of(profiles, others);
}

Intents intents_of(const std::vector<NamedProfile>& profiles, OtherPaths& others) {
    if (profiles.empty())
        throw core::Error(core::Code::bad_input, "there is no profile to derive intents from", {},
                          "give at least one profile or Darshan log");
    Names names;
    bool any = false;
    for (std::size_t i = 0; i < profiles.size(); ++i)
        for (const File& file : profiles[i].profile.files) {
            any = any || !never_opened(file);
            const auto first = first_use_of(file);
            names.uses.push_back(
                {file.path, file.processes, first ? Seconds(first->start_s) : std::nullopt, i});
        }
    if (!any)
        throw core::Error(core::Code::bad_input, "the profile holds no file that was opened",
                          profiles[0].path, "record a run that writes or reads files");
    names.find_patterns();
    std::vector<Intents> single;
    std::size_t first_use = 0;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        const Profile& profile = profiles[i].profile;
        single.push_back(intents_of_one(profile, i, names, first_use));
        single.back().workload = workload_of(profile, single.back(), i);
        single.back().profiles = {source_of(profiles[i])};
        first_use += profile.files.size();
    }
    Intents all = joined(single, names, others);
    find_producers(all, single);
    all.workload.patterns = patterns_of(names, all);
    count_objects(all);
    put_into_words(all);
    return all;
}

}  // namespace tailrace::intent
