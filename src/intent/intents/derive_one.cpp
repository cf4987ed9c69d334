// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "intent/intents/access.hpp"
#include "intent/intents/creation.hpp"
#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"
#include "intent/intents/derive_dataset.hpp"
#include "intent/intents/file_size.hpp"
#include "intent/intents/purpose.hpp"
#include "intent/intents/sharing.hpp"
#include "intent/intents/statements.hpp"
#include "intent/intents/transfers.hpp"
#include "intent/profile/unseen.hpp"

namespace tailrace::intent {

namespace {

using Datasets = std::vector<DatasetIntent>;

std::vector<const Statement*> statements(const Datasets& datasets,
                                         Statement DatasetIntent::*which) {
    std::vector<const Statement*> all;
    all.reserve(datasets.size());
    for (const DatasetIntent& dataset : datasets) all.push_back(&(dataset.*which));
    return all;
}

/// Patterns of the datasets of one file, and the order in which they were first transferred.
void name_datasets(Datasets& datasets) {
    std::vector<PathUse> uses;
    std::vector<std::pair<double, std::size_t>> by_time;
    for (const DatasetIntent& dataset : datasets) {
        const auto first =
            cover(dataset.session_io.read_timestamp, dataset.session_io.write_timestamp);
        PathUse use;
        use.path = dataset.dataset_name.substr(dataset.filename.size() + 1);
        use.processes = dataset.process_sharing;
        if (first) {
            use.first_s = first->start_s;
            by_time.emplace_back(first->start_s, uses.size());
        }
        uses.push_back(use);
    }
    for (const PathPattern& pattern : patterns_of(uses, 3))
        for (const std::size_t member : pattern.members)
            datasets[member].naming = {pattern.pattern, pattern.glob};
    std::sort(by_time.begin(), by_time.end());
    for (std::size_t i = 0; i < by_time.size(); ++i) datasets[by_time[i].second].sequence = i;
}

SizeSummary summary_of(const Datasets& datasets) {
    SizeSummary summary;
    for (const DatasetIntent& dataset : datasets) {
        if (!dataset.fs_size) continue;
        const std::uint64_t bytes = dataset.fs_size->bytes;
        summary.smallest_bytes =
            summary.count == 0 ? bytes : std::min(summary.smallest_bytes, bytes);
        summary.largest_bytes = std::max(summary.largest_bytes, bytes);
        summary.sum_bytes += bytes;
        ++summary.count;
    }
    return summary;
}

/// Of a layer below it is only known where a call has the place of the one before.
template <class Layer>
void take_repeated(Flow& flow, const Layer& layer) {
    const auto repeated = [](const auto& transfers) {
        const Count calls = transfers && transfers->order ? transfers->order->repeated : Count{};
        return calls.value_or(0) > 0 ? calls : Count{};
    };
    flow.repeated_reads = repeated(layer.reads);
    flow.repeated_writes = repeated(layer.writes);
    flow.not_all_placed = true;
}

/// The layer that is nearest to the program and knows the data: its flow is the file's.
Flow flow_of(const File& file, const Datasets& datasets, bool all_seen) {
    Flow flow;
    for (const Dataset& dataset : file.datasets) add(flow, flow_of(dataset));
    if (!datasets.empty()) return flow;
    const auto take = [&](const std::string& layer, const LayerIntent& intent) {
        flow.from = layer;
        flow.volume = intent.volume;
        flow.reads = intent.session_io.read_timestamp;
        flow.writes = intent.session_io.write_timestamp;
    };
    if (file.mpiio) {
        take("mpiio", intent_of(*file.mpiio));
        take_repeated(flow, *file.mpiio);
    }
    // Neither of these two sees what the other moves: a file may be used through both.
    const auto join = [&](const std::string& layer, const std::optional<PosixFile>& seen) {
        if (file.mpiio || !seen || (!seen->reads && !seen->writes)) return;
        const LayerIntent intent = intent_of(*seen, layer, file.processes);
        Flow part;
        part.from = layer;
        part.volume = intent.volume;
        part.reads = intent.session_io.read_timestamp;
        part.writes = intent.session_io.write_timestamp;
        take_repeated(part, *seen);
        add(flow, part);
    };
    join("posix", file.posix);
    join("stdio", file.stdio);
    if (flow.from.empty() && file.posix)
        take("posix", intent_of(*file.posix, "posix", file.processes));
    if (flow.from.empty() && file.stdio)
        take("stdio", intent_of(*file.stdio, "stdio", file.processes));
    if (flow.from.empty() && file.pnetcdf) {
        flow.from = "pnetcdf";
        flow.volume.layers = {"pnetcdf"};
        flow.volume.bytes_read = file.pnetcdf->bytes_read;
        flow.volume.bytes_written = file.pnetcdf->bytes_written;
    }
    // Whoever sees every call of HDF5 knows that none moved data.
    if (flow.from.empty() && file.hdf5 && all_seen) {
        flow.from = "hdf5";
        flow.volume = {.bytes_read = 0,
                       .bytes_written = 0,
                       .read_calls = 0,
                       .write_calls = 0,
                       .layers = {"hdf5"}};
    }
    return flow;
}

/// What one process alone has open it shares with no one, whatever its layers say.
Statement alone() {
    return Reasons("run").note("processes", Count(1), "processes").say("private", Confidence::high);
}

void take_layers(FileIntent& intent, const File& file) {
    if (file.mpiio) intent.layers["mpiio"] = intent_of(*file.mpiio);
    if (file.posix) intent.layers["posix"] = intent_of(*file.posix, "posix", file.processes);
    if (file.stdio) intent.layers["stdio"] = intent_of(*file.stdio, "stdio", file.processes);
}

void take_session(FileIntent& intent, const File& file, const Flow& flow) {
    intent.session_io.read_timestamp = flow.reads;
    intent.session_io.write_timestamp = flow.writes;
    const auto take = [&](const auto& layer) {
        if (!layer) return;
        if (!intent.session_io.open_timestamp) intent.session_io.open_timestamp = layer->open;
        if (!intent.session_io.close_timestamp) intent.session_io.close_timestamp = layer->close;
    };
    take(file.hdf5);
    take(file.pnetcdf);
    take(file.mpiio);
    take(file.posix);
    take(file.stdio);
}

/// Statements that follow from the datasets, or from the layers where there are none.
void take_how(FileIntent& intent, const File& file, const Datasets& datasets) {
    if (!datasets.empty()) {
        intent.order = agreed(statements(datasets, &DatasetIntent::order), "datasets", "mixed");
        intent.how_shared =
            agreed(statements(datasets, &DatasetIntent::how_shared), "datasets", "mixed");
        intent.collective =
            agreed(statements(datasets, &DatasetIntent::collective), "datasets", "partly");
        intent.append = agreed(statements(datasets, &DatasetIntent::append), "datasets", "partly");
    }
    if (datasets.empty() && file.mpiio) {
        const LayerIntent& mpiio = intent.layers.at("mpiio");
        intent.collective = mpiio.collective;
        intent.order = mpiio.order;
        intent.how_shared = mpiio.how_shared;
    }
    for (const char* name : {"posix", "stdio"}) {
        const auto layer = intent.layers.find(name);
        if (layer == intent.layers.end()) continue;
        if (intent.order.value == "not known") intent.order = layer->second.order;
        // Below MPI-IO stands which process the library let write, not what the program wants.
        if (datasets.empty() && !file.mpiio && intent.how_shared.value == "not known")
            intent.how_shared = layer->second.how_shared;
    }
    if (datasets.empty() && file.mpiio) intent.append = append_of(*file.mpiio);
    if (intent.append.value == "not known" && datasets.empty() && file.posix)
        intent.append = append_of(*file.posix, "posix", file.processes.size());
    if (intent.append.value == "not known" && datasets.empty() && file.stdio)
        intent.append = append_of(*file.stdio, "stdio", file.processes.size());
}

/// Of the layer whose bytes are those of the file.
void take_sizes(FileIntent& intent) {
    if (const auto mpiio = intent.layers.find("mpiio"); mpiio != intent.layers.end())
        intent.transfer_size_dist = mpiio->second.transfer_size_dist;
    if (!intent.transfer_size_dist.empty()) return;
    for (const char* name : {"posix", "stdio"})
        if (const auto layer = intent.layers.find(name); layer != intent.layers.end())
            add(intent.transfer_size_dist, layer->second.transfer_size_dist);
}

FileIntent intent_of_file(const File& file, const Profile& profile, const Datasets& datasets) {
    FileIntent intent;
    take_layers(intent, file);
    const bool all_seen = profile.origin.kind == OriginKind::hook && !incomplete(profile.origin);
    Flow flow = flow_of(file, datasets, all_seen);
    if (const auto touched = touched_of(file); touched && !touched->at_least && datasets.empty())
        flow.size_bytes = touched->bytes;
    take_session(intent, file, flow);
    intent.type = type_of(flow);
    intent.mode = mode_of(intent.type);
    intent.created = created_of(file);
    intent.ds_size_dist = summary_of(datasets);
    intent.fs_size = size_of(file, intent.ds_size_dist);
    intent.reuse = reuse_of(flow);
    intent.metadata_dominated = metadata_dominated(file);
    intent.reliability = reliability_of(file, profile.run, intent.type.value);
    intent.process_sharing = file.processes;
    for (const DatasetIntent& dataset : datasets) {
        ++intent.ap_distribution[dataset.type.value];
        add(intent.transfer_size_dist, dataset.transfer_size_dist);
        add(intent.top_accessed_segments, dataset.top_accessed_segments);
    }
    if (datasets.empty()) take_sizes(intent);
    intent.volume = flow.volume;
    take_how(intent, file, datasets);
    return intent;
}

void mark(Statement& statement, std::uint64_t number) {
    for (Evidence& one : statement.evidence) one.profile = number;
}

void mark(DatasetIntent& intent, std::uint64_t number) {
    intent.profiles = {number};
    for (Statement* one : {&intent.type, &intent.mode, &intent.append, &intent.reuse, &intent.order,
                           &intent.sharing_pattern, &intent.how_shared, &intent.collective,
                           &intent.full_coverage, &intent.producer_consumer, &intent.reliability})
        mark(*one, number);
    for (DeclaredIntent& one : intent.declared) one.profile = number;
}

void mark(FileIntent& intent, std::uint64_t number) {
    intent.profiles = {number};
    for (Statement* one :
         {&intent.type, &intent.mode, &intent.created, &intent.append, &intent.metadata_dominated,
          &intent.reuse, &intent.order, &intent.sharing_pattern, &intent.how_shared,
          &intent.collective, &intent.producer_consumer, &intent.reliability})
        mark(*one, number);
    for (DeclaredIntent& one : intent.declared) one.profile = number;
    for (auto& [name, layer] : intent.layers)
        for (Statement* one :
             {&layer.type, &layer.order, &layer.how_shared, &layer.collective, &layer.alignment})
            mark(*one, number);
}

template <class T>
void doubt(T& intent) {
    for (Statement* one : {&intent.type, &intent.mode, &intent.reuse, &intent.append})
        if (one->confidence == Confidence::high) one->confidence = Confidence::medium;
    // That something did not happen.
    if (intent.type.value == "write_only" || intent.type.value == "read_only")
        intent.type.confidence = Confidence::low;
}

}  // namespace

std::uint64_t ranks_of(const Run& run) {
    return std::max<std::uint64_t>({run.ranks.value_or(0), run.processes.size(), 1});
}

Intents intents_of_one(const Profile& profile, std::uint64_t number, const Names& names,
                       std::size_t first_use) {
    Intents intents;
    const std::uint64_t ranks = ranks_of(profile.run);
    std::map<const PathPattern*, Statement> sharing;
    // Sources of virtual datasets may have been read or written too.
    const bool is_partial =
        incomplete(profile.origin) || reads_virtual(profile) || writes_virtual(profile);
    for (std::size_t i = 0; i < profile.files.size(); ++i) {
        const File& file = profile.files[i];
        if (never_opened(file)) continue;
        const PathPattern& pattern = names.of(first_use + i);
        if (sharing.count(&pattern) == 0)
            sharing[&pattern] = sharing_of(pattern, names.uses, number, ranks);
        Datasets datasets;
        for (const Dataset& dataset : file.datasets)
            datasets.push_back(intent_of(dataset, file, ranks));
        name_datasets(datasets);
        FileIntent intent = intent_of_file(file, profile, datasets);
        intent.naming = {pattern.pattern, pattern.glob};
        intent.sharing_pattern = sharing[&pattern];
        if (intent.sharing_pattern.value == "mixed")
            intent.sharing_pattern.value = file.processes.size() > 1 ? "shared" : "one_writer";
        if (file.processes.size() == 1) intent.how_shared = alone();
        if (is_partial) doubt(intent);
        take_declared(intent, file.declared);
        const Statement of_file = intent.reliability;  // before a dataset asks for more
        for (std::size_t k = 0; k < datasets.size(); ++k) {
            DatasetIntent& dataset = datasets[k];
            dataset.reliability = of_file;
            if (is_partial) doubt(dataset);
            take_declared(dataset, file.datasets[k].declared);
            take_careful(intent, dataset);
            mark(dataset, number);
            intents.datasets.emplace(dataset.dataset_name, std::move(dataset));
        }
        if (const auto lost = profile.origin.dropped.find("declarations");
            lost != profile.origin.dropped.end() && lost->second > 0)
            take_most_careful(intent, lost->second);
        mark(intent, number);
        intents.files.emplace(file.path, std::move(intent));
    }
    return intents;
}

}  // namespace tailrace::intent
