// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "core/json/document.hpp"
#include "intent/intents/intents_json.hpp"

namespace tailrace::intent {

namespace {

using json::Json;

constexpr std::size_t classic_segments = 3, classic_file_sizes = 4;

Json times(const std::optional<Span>& span) {
    return span ? Json::array({span->start_s, span->end_s}) : Json::array({0, 0});
}

Json session(const Session& session) {
    return {{"open_timestamp", times(session.open_timestamp)},
            {"close_timestamp", times(session.close_timestamp)},
            {"read_timestamp", times(session.read_timestamp)},
            {"write_timestamp", times(session.write_timestamp)}};
}

/// 0 WRITE_ONLY, 1 READ_ONLY, 2 RAW, 3 OTHER.
int type_number(const std::string& type) {
    if (type == "write_only") return 0;
    if (type == "read_only") return 1;
    return type == "read_after_write" || type == "write_once_read_many" ? 2 : 3;
}

/// 0 WRITE_ONLY, 1 READ_ONLY, 2 READ_WRITE, 3 APPEND.
int mode_number(const std::string& mode, const std::string& append) {
    if (append == "yes" && mode == "write_only") return 3;
    if (mode == "write_only") return 0;
    return mode == "read_only" ? 1 : 2;
}

/// 0 INDEPENDENT, 1 COLLECTIVE, 2 OTHER.
int sharing_number(const std::string& collective, std::uint64_t processes) {
    if (collective == "done" || collective == "requested") return 1;
    if (collective == "not_requested" || processes == 1) return 0;
    return 2;
}

Json processes(const ProcessSet& set) {
    Json list = Json::array();
    for (const ProcessSet::Range& range : set.ranges())
        for (std::uint64_t id = range.first; id <= range.last; ++id) list.push_back(id);
    return list;
}

Extents padded(Extents numbers, std::size_t size) {
    numbers.resize(std::max(size, numbers.size()), 0);
    return numbers;
}

Json segment(const Segment* one, const DatasetIntent* dataset) {
    const std::size_t ndims = dataset ? dataset->ndims.value_or(0) : 0;
    if (!one)
        return {{"length", padded({}, ndims)},
                {"count", 0},
                {"stride", padded({}, ndims)},
                {"access", 0}};
    const bool whole = one->selection == Selection::all && dataset && one->length.empty();
    const Extents length = whole ? dataset->dims : one->length;
    const Extents stride =
        whole && one->stride.empty() ? Extents(dataset->dims.size(), 1) : one->stride;
    return {{"length", padded(length, ndims)},
            {"count", one->count},
            {"stride", padded(stride, ndims)},
            {"access", one->access_bytes.value_or(0)}};
}

Json segments(const std::vector<Segment>& list, const DatasetIntent* dataset) {
    Json object = Json::object();
    for (std::size_t i = 0; i < classic_segments; ++i)
        object[std::to_string(i + 1)] = segment(i < list.size() ? &list[i] : nullptr, dataset);
    return object;
}

/// Elements of the i-th most frequent transfer; 0 where there is none.
std::uint64_t elements_of(const DatasetIntent& dataset, std::size_t i) {
    const auto& sizes = dataset.transfer_size_dist;
    return i < sizes.size() ? sizes[i].elements.value_or(0) : 0;
}

Json dataset_json(const DatasetIntent& dataset) {
    Json sizes = Json::object();
    for (std::size_t i = 0; i < classic_segments; ++i)
        sizes[std::to_string(i + 1)] = elements_of(dataset, i);
    return {{"filename", dataset.filename},
            {"dataset_name", dataset.dataset_name},
            {"ndims", dataset.ndims.value_or(0)},
            {"session_io", session(dataset.session_io)},
            {"type", type_number(dataset.type.value)},
            {"top_accessed_segments", segments(dataset.top_accessed_segments, &dataset)},
            {"transfer_size_dist", sizes},
            {"process_sharing", processes(dataset.process_sharing)},
            {"fs_size", dataset.fs_size ? dataset.fs_size->bytes : 0},
            {"sharing_pattern",
             sharing_number(dataset.collective.value, dataset.process_sharing.size())},
            {"mode", mode_number(dataset.mode.value, dataset.append.value)}};
}

Json file_json(const FileIntent& file, const std::vector<const DatasetIntent*>& datasets) {
    Json sizes = Json::object(), types = Json::object();
    for (std::size_t i = 0; i < classic_file_sizes; ++i) {
        std::uint64_t total = 0, count = 0;
        for (const DatasetIntent* dataset : datasets) {
            total += elements_of(*dataset, i);
            count += i < dataset->transfer_size_dist.size() ? 1 : 0;
        }
        sizes[std::to_string(i + 1)] = {{"sum", total}, {"count", count}};
    }
    for (const int type : {1, 0, 2, 3})
        types[std::to_string(type)] = std::count_if(
            datasets.begin(), datasets.end(),
            [&](const DatasetIntent* dataset) { return type_number(dataset->type.value) == type; });
    const std::uint64_t stored = file.ds_size_dist.count > 0 ? file.ds_size_dist.sum_bytes
                                 : file.fs_size              ? file.fs_size->bytes
                                                             : 0;
    return {{"session_io", session(file.session_io)},
            {"mode", mode_number(file.mode.value, file.append.value)},
            {"process_sharing", processes(file.process_sharing)},
            {"fs_size", stored},
            {"sharing_pattern", sharing_number(file.collective.value, file.process_sharing.size())},
            {"ap_distribution", types},
            {"top_accessed_segments", segments(file.top_accessed_segments, nullptr)},
            {"transfer_size_dist", sizes},
            {"ds_size_dist",
             {{"sum", file.ds_size_dist.sum_bytes}, {"count", file.ds_size_dist.count}}}};
}

}  // namespace

std::string to_classic_json(const Intents& intents) {
    Json files = Json::object(), datasets = Json::object();
    std::map<std::string, std::vector<const DatasetIntent*>> of_file;
    for (const auto& [key, dataset] : intents.datasets) {
        of_file[dataset.filename].push_back(&dataset);
        datasets[key] = dataset_json(dataset);
    }
    for (const auto& [path, file] : intents.files) files[path] = file_json(file, of_file[path]);
    return json::text_of({{"files", files}, {"datasets", datasets}});
}

}  // namespace tailrace::intent
