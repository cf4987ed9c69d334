// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/from_intents.hpp"

namespace tailrace::intent::rules {

namespace {

/// @param direction  of the shapes that are wanted; empty: the dataset is moved in one only
Transfers side_of(const DatasetIntent& intent, const Count& bytes, const Count& calls,
                  const std::optional<Span>& active, const std::string& direction) {
    Transfers made;
    made.bytes = bytes;
    made.calls = calls;
    made.active = active;
    for (const Segment& segment : intent.top_accessed_segments) {
        if (!direction.empty() && segment.direction != direction) continue;
        Shape shape;
        shape.selection = segment.selection;
        shape.length = segment.length;
        shape.stride = segment.stride;
        shape.block = segment.block;
        shape.calls = segment.count;
        shape.call_bytes = segment.access_bytes;
        made.shapes.push_back(shape);
    }
    return made;
}

Dataset dataset_of(const DatasetIntent& intent, const std::string& path) {
    Dataset made;
    made.path = path;
    made.interface = intent.interface;
    made.processes = intent.process_sharing;
    made.type = ElementType{"", intent.element_bytes, {}};
    made.ndims = intent.ndims;
    made.elements = intent.elements;
    made.dims = intent.dims;
    made.chunk = intent.chunk;
    made.layout = intent.layout;
    for (const std::string& name : intent.filters) made.filters.push_back({0, name, {}});
    const Volume& volume = intent.volume;
    const bool reads = volume.bytes_read.value_or(0) > 0;
    const bool writes = volume.bytes_written.value_or(0) > 0;
    // With both, no one knows whose the shapes are that have no direction.
    const bool both = reads && writes;
    if (reads)
        made.reads = side_of(intent, volume.bytes_read, volume.read_calls,
                             intent.session_io.read_timestamp, both ? "read" : "");
    if (writes)
        made.writes = side_of(intent, volume.bytes_written, volume.write_calls,
                              intent.session_io.write_timestamp, both ? "write" : "");
    if (intent.type.value == "read_after_write" || intent.type.value == "write_once_read_many")
        made.read_after_write = ReadAfterWrite{.any = true};
    return made;
}

Reliability reliability_of(const Statement& statement) {
    if (statement.value == "scratch") return Reliability::scratch;
    if (statement.value == "recomputable") return Reliability::recomputable;
    return Reliability::durable;
}

}  // namespace

void take_names(const Intents& intents, Options& options) {
    for (const auto& [path, file] : intents.files) {
        options.file_globs[path] = file.naming.glob;
        options.reliability[path] = reliability_of(file.reliability);
    }
    for (const auto& [key, dataset] : intents.datasets)
        options.dataset_globs[key] = dataset.naming.glob;
}

void take_other_names(const std::vector<NamedProfile>& profiles, const OtherPaths& others,
                      Options& options) {
    for (const auto& [path, other] : others) {
        options.file_globs[path] = options.file_globs.at(other);
        options.reliability[path] = options.reliability.at(other);
    }
    for (const NamedProfile& one : profiles)
        for (const File& file : one.profile.files) {
            const auto other = others.find(file.path);
            if (other == others.end()) continue;
            for (const Dataset& dataset : file.datasets) {
                const auto name = options.dataset_globs.find(other->second + ":" + dataset.path);
                if (name != options.dataset_globs.end())
                    options.dataset_globs[file.path + ":" + dataset.path] = name->second;
            }
        }
}

Profile profile_of(const Intents& intents) {
    Profile made;
    made.run.ranks = intents.workload.ranks;
    made.run.nodes = intents.workload.nodes;
    made.run.elapsed_s = intents.workload.elapsed_s;
    made.origin.notes.emplace_back(
        "from intents alone: what the program sets itself, its metadata, its file systems and its "
        "memory are not known; a profile says more");
    for (const ProfileSource& source : intents.profiles) {
        if (source.complete.value_or(true)) continue;
        made.origin.dropped["parts of the profile"] += 1;
        if (source.kind == "darshan") made.origin.kind = OriginKind::darshan;
    }
    for (const auto& [path, intent] : intents.files) {
        File file;
        file.path = path;
        file.processes = intent.process_sharing;
        if (intent.layers.contains("hdf5")) file.hdf5 = Hdf5File{};
        for (const auto& [key, dataset] : intents.datasets)
            if (dataset.filename == path && key.size() > path.size() + 1)
                file.datasets.push_back(dataset_of(dataset, key.substr(path.size() + 1)));
        made.files.push_back(std::move(file));
    }
    return made;
}

}  // namespace tailrace::intent::rules
