// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/derive_dataset.hpp"

#include "intent/intents/access.hpp"
#include "intent/intents/sharing.hpp"
#include "intent/intents/statements.hpp"
#include "intent/intents/transfers.hpp"

namespace tailrace::intent {

namespace {

Session session_of(const std::optional<Span>& open, const std::optional<Span>& close,
                   const std::optional<Span>& reads, const std::optional<Span>& writes) {
    return {open, close, reads, writes};
}

Volume volume_of(const std::optional<PosixTransfers>& reads,
                 const std::optional<PosixTransfers>& writes) {
    Volume volume;
    if (reads) {
        volume.bytes_read = reads->bytes;
        volume.read_calls = reads->calls;
        volume.read_s = reads->elapsed_s;
    }
    if (writes) {
        volume.bytes_written = writes->bytes;
        volume.write_calls = writes->calls;
        volume.write_s = writes->elapsed_s;
    }
    return volume;
}

Count calls_of(const MpiioTransfers& transfers) {
    return sum(sum(transfers.independent, transfers.collective),
               sum(transfers.nonblocking, transfers.split));
}

template <class T>
std::optional<Span> active_of(const std::optional<T>& transfers) {
    return transfers ? transfers->active : std::nullopt;
}

template <class T>
std::vector<FrequentSize> frequent_of(const std::optional<T>& transfers) {
    return transfers ? transfers->frequent : std::vector<FrequentSize>{};
}

/// Of the writes; of the reads where fewer than two processes write.
template <class File>
std::vector<ByteRange> ranges_of(const File& file) {
    for (const auto* transfers : {&file.writes, &file.reads})
        if (*transfers && (*transfers)->ranges.size() > 1) return (*transfers)->ranges;
    return {};
}

}  // namespace

DatasetIntent intent_of(const Dataset& dataset, const File& file, std::uint64_t ranks) {
    DatasetIntent intent;
    const Flow flow = flow_of(dataset);
    intent.filename = file.path;
    intent.dataset_name = file.path + ":" + dataset.path;
    intent.interface = dataset.interface;
    intent.ndims = dataset.ndims;
    if (!intent.ndims && !dataset.dims.empty()) intent.ndims = dataset.dims.size();
    intent.elements = dataset.elements;
    if (dataset.type) intent.element_bytes = dataset.type->bytes;
    intent.dims = dataset.dims;
    intent.chunk = dataset.chunk;
    intent.layout = dataset.layout;
    for (const Filter& filter : dataset.filters)
        intent.filters.push_back(filter.name.empty() ? std::to_string(filter.id) : filter.name);
    intent.session_io = session_of(dataset.open, dataset.close, flow.reads, flow.writes);
    intent.type = type_of(flow);
    intent.mode = mode_of(intent.type);
    intent.append = append_of(dataset);
    intent.reuse = reuse_of(flow);
    intent.order = order_of(dataset);
    intent.sharing_pattern = sharing_of(dataset, ranks);
    intent.how_shared = how_shared_of(dataset);
    intent.collective = collective_of(dataset);
    intent.full_coverage = coverage_of(dataset);
    intent.top_accessed_segments = segments_of(dataset);
    intent.transfer_size_dist = sizes_of(intent.top_accessed_segments, intent.element_bytes);
    intent.process_sharing = dataset.processes;
    if (flow.size_bytes)
        intent.fs_size = Amount{*flow.size_bytes, "elements and their size", {}};
    else if (flow.volume.bytes_written.value_or(0) + flow.volume.bytes_read.value_or(0) > 0)
        intent.fs_size = Amount{
            std::max(flow.volume.bytes_written.value_or(0), flow.volume.bytes_read.value_or(0)),
            "bytes moved",
            {}};
    intent.volume = flow.volume;
    return intent;
}

LayerIntent intent_of(const PosixFile& file, const std::string& layer,
                      const ProcessSet& processes) {
    LayerIntent intent;
    Flow flow;
    flow.from = layer;
    flow.volume = volume_of(file.reads, file.writes);
    flow.volume.layers = {layer};
    flow.reads = active_of(file.reads);
    flow.writes = active_of(file.writes);
    intent.type = type_of(flow);
    intent.order = order_of(file, layer, processes.size());
    intent.how_shared = how_shared_of(ranges_of(file), layer);
    intent.alignment = alignment_of(file);
    intent.session_io = session_of(file.open, file.close, flow.reads, flow.writes);
    intent.transfer_size_dist =
        sizes_of({file.frequent, frequent_of(file.reads), frequent_of(file.writes)});
    if (file.reads) intent.read_sizes = file.reads->sizes;
    if (file.writes) intent.write_sizes = file.writes->sizes;
    intent.volume = flow.volume;
    intent.syncs = file.syncs;
    return intent;
}

LayerIntent intent_of(const MpiioFile& file) {
    LayerIntent intent;
    Flow flow;
    flow.from = "mpiio";
    flow.volume.layers = {"mpiio"};
    const auto take = [](const std::optional<MpiioTransfers>& transfers, Count& bytes, Count& calls,
                         Seconds& elapsed_s) {
        if (!transfers) return;
        bytes = transfers->bytes;
        calls = calls_of(*transfers);
        elapsed_s = transfers->elapsed_s;
    };
    take(file.reads, flow.volume.bytes_read, flow.volume.read_calls, flow.volume.read_s);
    take(file.writes, flow.volume.bytes_written, flow.volume.write_calls, flow.volume.write_s);
    flow.reads = active_of(file.reads);
    flow.writes = active_of(file.writes);
    intent.type = type_of(flow);
    intent.order = order_of(file);
    intent.how_shared = how_shared_of(ranges_of(file), "mpiio");
    intent.collective = collective_of(file);
    intent.session_io = session_of(file.open, file.close, flow.reads, flow.writes);
    intent.transfer_size_dist =
        sizes_of({file.frequent, frequent_of(file.reads), frequent_of(file.writes)});
    if (file.reads) intent.read_sizes = file.reads->sizes;
    if (file.writes) intent.write_sizes = file.writes->sizes;
    intent.volume = flow.volume;
    intent.syncs = file.syncs;
    return intent;
}

}  // namespace tailrace::intent
