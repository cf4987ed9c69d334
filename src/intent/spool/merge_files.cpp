// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr const char* object_names[objects] = {"attribute", "group", "link",
                                               "dataset",   "type",  "object"};
constexpr const char* driver_names[] = {"",      "sec2", "core",   "mpio",      "stdio", "family",
                                        "multi", "log",  "direct", "subfiling", "split", "other"};

void add_operations(const FileRecord& record, std::map<std::string, Operations>& all) {
    for (std::uint32_t object = 0; object < objects; ++object) {
        const auto& counts = record.counts[object];
        if (std::all_of(std::begin(counts), std::end(counts), [](auto n) { return n == 0; })) {
            continue;
        }
        Operations& sum = all[object_names[object]];
        add(sum.create, counts[op_create]);
        add(sum.open, counts[op_open]);
        add(sum.read, counts[op_read]);
        add(sum.write, counts[op_write]);
        add(sum.remove, counts[op_delete]);
        add(sum.other, counts[op_other]);
        if (object == on_attribute) {
            add(sum.bytes, record.attribute_bytes_read + record.attribute_bytes_written);
        }
    }
}

using OrderOf = Calls FileRecord::*;

std::vector<CallOrder> orders(const std::vector<Part<DecodedFile>>& parts, OrderOf which) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, ProcessSet> groups;
    for (const auto& part : parts) {
        const Calls& calls = part.record->record.*which;
        groups[{calls.calls, calls.order_hash}].add(part.member.id);
    }
    std::vector<CallOrder> made;
    for (auto& [key, processes] : groups) {
        made.push_back({std::move(processes), key.first, hexadecimal(key.second)});
    }
    return made;
}

std::uint64_t bits(const DecodedSetting& setting, std::size_t number) {
    return number < setting.values.size() ? setting.values[number] : 0;
}

}  // namespace

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }  // short in decimals

void add(Count& sum, std::uint64_t value) { sum = sum.value_or(0) + value; }

std::string hexadecimal(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t at = 16; at-- > 0; value >>= 4U) text[at] = "0123456789abcdef"[value & 15U];
    return text;
}

void widen(std::optional<Span>& all, const Period& one, const Member& member) {
    if (one.end_ns == 0) return;
    const double start_s = member.start_s + seconds(one.start_ns);
    const double end_s = member.start_s + seconds(one.end_ns);
    if (!all) {
        all = Span{start_s, end_s};
        return;
    }
    all->start_s = std::min(all->start_s, start_s);
    all->end_s = std::max(all->end_s, end_s);
}

void add_settings(Settings& all, const std::vector<DecodedSetting>& settings) {
    for (const DecodedSetting& setting : settings) {
        const std::uint64_t first = bits(setting, 0);
        const std::uint64_t second = bits(setting, 1);
        switch (setting.key) {
            case key_alignment:
                all["alignment_threshold_bytes"] = first;
                all["alignment_bytes"] = second;
                break;
            case key_meta_block_bytes:
                all["meta_block_bytes"] = first;
                break;
            case key_small_data_block_bytes:
                all["small_data_block_bytes"] = first;
                break;
            case key_sieve_bytes:
                all["sieve_buffer_bytes"] = first;
                break;
            case key_chunk_cache:
                all["chunk_cache_slots"] = first;
                all["chunk_cache_bytes"] = second;
                all["chunk_cache_preemption"] = std::bit_cast<double>(bits(setting, 2));
                break;
            case key_libver:
                all["libver_low"] = first;
                all["libver_high"] = second;
                break;
            case key_page_buffer:
                all["page_buffer_bytes"] = first;
                break;
            case key_space_strategy:
                all["file_space_strategy"] = first;
                break;
            case key_page_bytes:
                all["page_bytes"] = first;
                break;
            case key_userblock_bytes:
                all["userblock_bytes"] = first;
                break;
            case key_collective_metadata_reads:
                all["collective_metadata_reads"] = first != 0;
                break;
            case key_collective_metadata_writes:
                all["collective_metadata_writes"] = first != 0;
                break;
            case key_memory_type_differs:
                all["memory_type_differs"] = first != 0;
                if ((first >> reads & 1U) != 0) all["memory_type_differs_reading"] = true;
                if ((first >> writes & 1U) != 0) all["memory_type_differs_writing"] = true;
                break;
            case key_metadata_cache:
                all["metadata_cache_initial_bytes"] = first;
                all["metadata_cache_max_bytes"] = second;
                all["metadata_cache_evictions"] = bits(setting, 2) != 0;
                break;
            case key_metadata_cache_image:
                all["metadata_cache_image"] = first != 0;
                break;
            case key_file_locking:
                all["file_locking"] = first != 0;
                break;
            case key_evict_on_close:
                all["evict_on_close"] = first != 0;
                break;
            case key_conversion_buffer:
                all["conversion_buffer_bytes"] = first;
                break;
            case key_collective_io:
                all["collective_io"] = std::string(first == 0 ? "collective" : "individual");
                break;
            case key_chunk_io:
                all["chunk_io"] = std::string(first == 1 ? "one_io" : "multi_io");
                break;
            case key_chunk_io_chunks:
                all["chunk_io_chunks"] = first;
                break;
            case key_chunk_io_percent:
                all["chunk_io_percent"] = first;
                break;
            case key_address_asked:
                all["address_asked"] = first != 0;
                break;
            case key_made_without_name:
                all["made_without_name"] = first != 0;
                break;
            case key_behind:
                break;
        }
    }
}

Hdf5File hdf5_file(const std::vector<Part<DecodedFile>>& parts) {
    Hdf5File made;
    std::int64_t metadata_ns = 0;
    std::uint32_t communicator = 0;
    bool complete = true;
    for (const auto& part : parts) {
        const FileRecord& record = part.record->record;
        add(made.opens, record.opens);
        add(made.creates, record.creates);
        add(made.read_only_opens, record.read_only_opens);
        add(made.flushes, record.flushes);
        add(made.reopens, record.reopens);
        add(made.deletes, record.deletes);
        add(made.failed_calls, record.failed);
        widen(made.open, record.open, part.member);
        widen(made.close, record.close, part.member);
        metadata_ns += record.metadata_ns;
        communicator = std::max(communicator, record.communicator_size);
        complete = complete && record.incomplete == 0;
        if (record.driver != driver_not_known && record.driver < std::size(driver_names)) {
            made.driver = driver_names[record.driver];
        }
        add_operations(record, made.metadata);
        add_settings(made.settings_of_program, part.record->settings);
        for (std::uint32_t object = 0; object < objects; ++object) {
            if (record.left_open[object] > 0) {
                made.left_open[object_names[object]] += record.left_open[object];
            }
        }
    }
    made.metadata_s = seconds(metadata_ns);
    if (made.driver) made.mpio = *made.driver == "mpio" || *made.driver == "subfiling";
    if (communicator > 0) made.communicator_size = communicator;
    made.call_orders = orders(parts, &FileRecord::metadata_order);
    made.transfer_orders = orders(parts, &FileRecord::transfer_order);
    made.access_orders = orders(parts, &FileRecord::access_order);
    // Of ranks that left no spool nothing is known.
    if (parts.size() > 1 && parts.size() >= communicator && complete) {
        made.same_order = made.call_orders.size() == 1;
        made.same_transfer_order = made.transfer_orders.size() == 1;
        made.same_access_order = made.access_orders.size() == 1;
    }
    return made;
}

}  // namespace tailrace::intent::spool
