// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "intent/intents/derive.hpp"
#include "intent/intents/purpose.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

std::string why_of(const std::string& type, const std::string& producer,
                   const std::string& metadata) {
    static const std::map<std::string, std::string> words{
        {"write_only", "output: written, not read by this run"},
        {"read_only", "input: read, not written by this run"},
        {"read_after_write", "written, then read back"},
        {"write_once_read_many", "written once, then read several times"},
        {"read_before_write", "read, then changed"},
        {"read_write", "both read and written"},
        {"no_data", "opened without moving data"}};
    if (producer == "yes") return "written by one program and read by another";
    const auto found = words.find(type);
    std::string text = found == words.end() ? "not known" : found->second;
    if (metadata == "yes") text += "; more calls open, create and describe than move data";
    return text;
}

std::string numbered(std::uint64_t count, const std::string& noun) {
    const std::string ending = count == 1 ? "" : noun.back() == 's' ? "es" : "s";
    return std::to_string(count) + " " + noun + ending;
}

std::string extents_text(const Extents& extents) {
    std::string text;
    for (const std::uint64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

std::string amount_text(const std::optional<Amount>& amount) {
    if (!amount) return {};
    return (amount->at_least.value_or(false) ? "at least " : "") + size_text(amount->bytes);
}

void append(std::string& text, const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
}

std::string collective_text(const std::string& collective) {
    static const std::map<std::string, std::string> words{
        {"done", "collective"},
        {"requested", "collective asked for"},
        {"not_done_though_requested", "collective asked for but not done"},
        {"partly", "partly collective"},
        {"not_requested", "independent"}};
    const auto found = words.find(collective);
    return found == words.end() ? std::string{} : found->second;
}

std::string order_text(const std::string& order, std::uint64_t datasets = 1) {
    if (order == "one_transfer")
        return std::string("one transfer per process") + (datasets > 1 ? " and dataset" : "");
    return order == "not known" ? std::string{} : order;
}

std::string sharing_text(const std::string& sharing, std::uint64_t processes) {
    if (sharing == "file_per_process") return "a file of its own for each process";
    if (sharing == "one_writer") return "one process of several";
    if (sharing == "shared") return "shared by " + numbered(processes, "process");
    if (sharing == "independent" || sharing == "serial") return "one process";
    return sharing == "not known" ? std::string{} : sharing;
}

std::string parts_text(const std::string& how_shared) {
    static const std::map<std::string, std::string> words{{"disjoint_blocks", "a block for each"},
                                                          {"interleaved", "interleaved"},
                                                          {"overlapping", "overlapping"},
                                                          {"same_region", "the same for each"}};
    const auto found = words.find(how_shared);
    return found == words.end() ? std::string{} : found->second;
}

/// The most frequent size need not be that of most calls.
std::string transfers_text(const std::vector<TransferSize>& sizes, const Volume& volume) {
    if (sizes.empty()) return {};
    const std::uint64_t calls = volume.read_calls.value_or(0) + volume.write_calls.value_or(0);
    const bool most = sizes.front().calls >= calls - calls / 2;
    return (most ? "mostly " : "most often ") + size_text(sizes.front().bytes) + " at a time";
}

std::string bursts_text(std::size_t bursts) {
    return (bursts < most_bursts ? "in " : "in at least ") + numbered(bursts, "burst");
}

void describe(DatasetIntent& intent) {
    intent.words.why = why_of(intent.type.value, intent.producer_consumer.value, "");
    std::string what = intent.dims.size() > 1    ? extents_text(intent.dims) + " elements"
                       : intent.dims.size() == 1 ? numbered(intent.dims.front(), "element")
                       : intent.elements         ? numbered(*intent.elements, "element")
                                                 : "extent not known";
    if (intent.element_bytes) what += " of " + numbered(*intent.element_bytes, "byte");
    append(what, amount_text(intent.fs_size));
    if (intent.layout) append(what, *intent.layout);
    for (const std::string& filter : intent.filters) append(what, filter);
    intent.words.what = what;
    std::string how;
    append(how, sharing_text(intent.sharing_pattern.value, intent.process_sharing.size()));
    append(how, parts_text(intent.how_shared.value));
    append(how, collective_text(intent.collective.value));
    append(how, transfers_text(intent.transfer_size_dist, intent.volume));
    append(how, order_text(intent.order.value));
    intent.words.how = how;
}

void describe(FileIntent& intent) {
    intent.words.why =
        why_of(intent.type.value, intent.producer_consumer.value, intent.metadata_dominated.value);
    std::uint64_t datasets = 0;
    for (const auto& [type, count] : intent.ap_distribution) datasets += count;
    std::string what = datasets > 0 ? numbered(datasets, "dataset") : std::string{};
    append(what, amount_text(intent.fs_size));
    if (what.empty()) what = intent.type.value == "no_data" ? "nothing moved" : "not known";
    intent.words.what = what;
    std::string how;
    append(how, sharing_text(intent.sharing_pattern.value, intent.process_sharing.size()));
    append(how, parts_text(intent.how_shared.value));
    append(how, collective_text(intent.collective.value));
    append(how, transfers_text(intent.transfer_size_dist, intent.volume));
    append(how, order_text(intent.order.value, datasets));
    if (intent.append.value == "yes") append(how, "grows at its end");
    intent.words.how = how;
}

/// "120 GiB written"; where the layers did not move the same "120 GiB written (hdf5 120 GiB, mpiio
/// 248 GiB)".
std::string moved_text(const WorkloadIntent& workload, Count Volume::*which, const char* word) {
    const std::uint64_t all = (workload.volume.*which).value_or(0);
    if (all == 0) return {};
    std::string layers;
    bool alike = true;
    for (const auto& [name, volume] : workload.layers) {
        const std::uint64_t bytes = (volume.*which).value_or(0);
        if (bytes == 0) continue;
        append(layers, name + " " + size_text(bytes));
        alike = alike && std::max(bytes, all) - std::min(bytes, all) <= all / 50;
    }
    return size_text(all) + " " + word + (alike ? "" : " (" + layers + ")");
}

void describe(WorkloadIntent& workload) {
    workload.words.why = why_of(workload.type.value, workload.producer_consumer.value,
                                workload.metadata_dominated.value);
    std::string what = numbered(workload.files, "file");
    if (workload.datasets > 0) append(what, numbered(workload.datasets, "dataset"));
    append(what, moved_text(workload, &Volume::bytes_written, "written"));
    append(what, moved_text(workload, &Volume::bytes_read, "read"));
    // Less than a hundredth in one direction is not counted, and is there all the same.
    if (workload.type.value == "write_only" && workload.volume.bytes_read.value_or(0) > 0)
        workload.words.why = "output: written, and hardly read by this run";
    if (workload.type.value == "read_only" && workload.volume.bytes_written.value_or(0) > 0)
        workload.words.why = "input: read, and hardly written by this run";
    workload.words.what = what;
    std::string how;
    if (workload.type.value == "read_write") workload.words.why = "input and output";
    append(how, sharing_text(workload.sharing_pattern.value, workload.ranks.value_or(1)));
    if (workload.rhythm.value == "regular_bursts")
        append(how, bursts_text(workload.bursts.size()) + " at regular times");
    else if (workload.rhythm.value == "bursts")
        append(how, bursts_text(workload.bursts.size()));
    else if (workload.rhythm.value != "not known")
        append(how, workload.rhythm.value == "once" ? "in one go" : "all the time");
    workload.words.how = how;
}

}  // namespace

void put_into_words(Intents& intents) {
    for (auto& [key, dataset] : intents.datasets) describe(dataset);
    for (auto& [path, file] : intents.files) describe(file);
    describe(intents.workload);
}

}  // namespace tailrace::intent
