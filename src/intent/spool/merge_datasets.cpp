// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>

#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr const char* class_names[] = {"integer",  "float",  "time",     "string",
                                       "bitfield", "opaque", "compound", "reference",
                                       "enum",     "vlen",   "array",    "complex"};
constexpr const char* layout_names[] = {"compact", "contiguous", "chunked", "virtual"};
constexpr const char* defined_names[] = {"undefined", "default", "user"};
constexpr const char* fill_time_names[] = {"alloc", "never", "ifset"};
constexpr const char* allocation_names[] = {"default", "early", "late", "incremental"};

template <std::size_t size>
std::optional<std::string> name(const char* const (&names)[size], std::int32_t number) {
    if (number < 0 || static_cast<std::size_t>(number) >= size) return std::nullopt;
    return names[number];
}

/// "f64le", "u8", "i32be"; nothing for what is no number.
std::optional<std::string> type_name(const DatasetRecord& record) {
    constexpr std::int32_t integer = 0;
    constexpr std::int32_t floating = 1;
    if (record.type_class != integer && record.type_class != floating) return std::nullopt;
    const char* letter = record.type_signed == 0 ? "u" : "i";
    std::string text = record.type_class == floating ? "f" : letter;
    text += std::to_string(record.type_bytes * 8);
    if (record.type_bytes > 1 && record.type_order == 0) text += "le";
    if (record.type_bytes > 1 && record.type_order == 1) text += "be";
    return text;
}

void describe(const DecodedDataset& from, Dataset& made) {
    const DatasetRecord& record = from.record;
    ElementType type;
    type.type_class = name(class_names, record.type_class).value_or("");
    if (record.type_bytes > 0) type.bytes = record.type_bytes;
    type.name = type_name(record);
    if (record.variable != 0) type.variable_length = true;
    made.type = type;
    made.ndims = record.rank;
    made.elements = record.elements;
    made.dims = from.dims;
    for (const std::uint64_t largest : from.largest) {
        made.max_dims.push_back(largest == unlimited ? Count{} : Count{largest});
    }
    made.chunk = from.chunk;
    made.layout = name(layout_names, record.layout);
    made.fill =
        Fill{name(defined_names, record.fill_defined), name(fill_time_names, record.fill_time)};
    made.allocation = name(allocation_names, record.allocation);
}

void add_direct(const DecodedDataset& from, Direction direction, std::optional<DirectChunks>& all) {
    const auto found = from.transfers.find(direction);
    if (found == from.transfers.end() || found->second.record.direct_calls == 0) return;
    if (!all) all = DirectChunks{};
    add(all->calls, found->second.record.direct_calls);
    add(all->bytes, found->second.record.direct_bytes);
}

/// The description of the process that saw the largest extent: others may have opened it earlier.
const DecodedDataset* best_of(const std::vector<Part<DecodedDataset>>& parts) {
    const DecodedDataset* best = nullptr;
    for (const auto& part : parts) {
        if (part.record->record.described == 0) continue;
        if (best == nullptr || part.record->record.elements > best->record.elements) {
            best = part.record;
        }
    }
    return best;
}

void add_extensions(const Part<DecodedDataset>& part, std::optional<Extensions>& all) {
    if (part.record->record.extensions == 0) return;
    if (!all) all = Extensions{};
    add(all->calls, part.record->record.extensions);
    if (all->sequence.empty()) all->sequence = part.record->extents;
}

}  // namespace

Dataset dataset(const std::string& path, const std::vector<Part<DecodedDataset>>& parts) {
    Dataset made;
    made.path = path;
    std::set<std::string> names;
    if (const DecodedDataset* best = best_of(parts)) describe(*best, made);
    Attributes attributes;
    for (const auto& part : parts) {
        const DatasetRecord& record = part.record->record;
        made.processes.add(part.member.id);
        names.insert(part.record->names.begin(), part.record->names.end());
        add(made.creates, record.creates);
        add(made.opens, record.opens);
        add(made.flushes, record.flushes);
        widen(made.open, record.open, part.member);
        widen(made.close, record.close, part.member);
        add(attributes.count, record.attributes);
        add(attributes.bytes, record.attribute_bytes);
        if (made.filters.empty()) {
            for (const auto& filter : part.record->filters) {
                made.filters.push_back({filter.id, filter.name, filter.values});
            }
        }
        add_settings(made.settings_of_program, part.record->settings);
        add_direct(*part.record, reads, made.direct_chunk_reads);
        add_direct(*part.record, writes, made.direct_chunk_writes);
        add_extensions(part, made.extensions);
    }
    made.names.assign(names.begin(), names.end());
    if (attributes.count.value_or(0) + attributes.bytes.value_or(0) > 0) {
        made.attributes = attributes;
    }
    made.reads = transfers(reads, made.dims, parts);
    made.writes = transfers(writes, made.dims, parts);
    made.read_after_write = read_after_write(made.dims, parts);
    return made;
}

}  // namespace tailrace::intent::spool
