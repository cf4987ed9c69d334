// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/access.hpp"

#include <algorithm>

#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

/// Whether there was any: calls or bytes; nothing where neither is known.
Known happened(const Count& calls, const Count& bytes) {
    if (!calls && !bytes) return std::nullopt;
    return calls.value_or(0) > 0 || bytes.value_or(0) > 0;
}

/// Whether it was read, and written.
bool both_ways(const Flow& flow) {
    return happened(flow.volume.read_calls, flow.volume.bytes_read).value_or(false) &&
           happened(flow.volume.write_calls, flow.volume.bytes_written).value_or(false);
}

Reasons reasons(const Flow& flow) {
    Reasons why(flow.from);
    why.note("bytes_read", flow.volume.bytes_read, "bytes")
        .note("bytes_written", flow.volume.bytes_written, "bytes")
        .note("read_calls", flow.volume.read_calls, "calls")
        .note("write_calls", flow.volume.write_calls, "calls");
    return why;
}

/// Written at most once, and read at least twice, as far as bytes tell.
bool once_and_many(const Flow& flow) {
    if (!flow.size_bytes || *flow.size_bytes == 0) return false;
    return flow.volume.bytes_written && *flow.volume.bytes_written <= *flow.size_bytes &&
           flow.volume.bytes_read.value_or(0) / *flow.size_bytes >= 2;
}

Statement after_writing(const Flow& flow, Reasons why, Confidence confidence) {
    if (!once_and_many(flow)) return why.say("read_after_write", confidence);
    why.note("size", flow.size_bytes, "bytes");
    return why.say("write_once_read_many",
                   confidence == Confidence::high ? Confidence::medium : confidence);
}

/// Both directions: which came first?
Statement in_time(const Flow& flow, Reasons why) {
    const Known& any = flow.read_after_write.any;
    if (any) why.note("read_after_write", std::string(*any ? "yes" : "no"));
    if (any && *any) return after_writing(flow, why, Confidence::high);
    if (!flow.reads || !flow.writes) return why.say("read_write", Confidence::low);
    why.note("first_read", Seconds(flow.reads->start_s))
        .note("last_read", Seconds(flow.reads->end_s))
        .note("first_write", Seconds(flow.writes->start_s))
        .note("last_write", Seconds(flow.writes->end_s));
    // That nothing written was read does not say that all was read before: it may be other parts.
    if (!any && flow.reads->start_s >= flow.writes->end_s)
        return after_writing(flow, why, Confidence::medium);
    if (flow.reads->end_s <= flow.writes->start_s)
        return why.say("read_before_write", any ? Confidence::high : Confidence::medium);
    return why.say("read_write", Confidence::medium);
}

Count repeated(const std::optional<Transfers>& transfers) {
    return transfers && transfers->order ? transfers->order->repeated : std::nullopt;
}

/// Elements that were touched more than once; nothing where not all places are known.
Count touched_again(const std::optional<Transfers>& transfers) {
    if (!transfers || !transfers->elements || !transfers->coverage) return std::nullopt;
    const Count& distinct = transfers->coverage->elements_distinct;
    if (!distinct) return std::nullopt;
    return *transfers->elements - std::min(*transfers->elements, *distinct);
}

/// What the parts of an object say of reads after writes, said of all of it.
void add_read_after_write(Flow& to, const Flow& flow) {
    Known& any = to.read_after_write.any;
    const Known& theirs = flow.read_after_write.any;
    to.in_doubt = to.in_doubt || flow.in_doubt || (both_ways(flow) && !theirs);
    if ((any && *any) || (theirs && *theirs))
        any = true;
    else if (to.in_doubt)
        any.reset();
    else if (theirs)
        any = false;
}

}  // namespace

Statement type_of(const Flow& flow) {
    const Known reads = happened(flow.volume.read_calls, flow.volume.bytes_read);
    const Known writes = happened(flow.volume.write_calls, flow.volume.bytes_written);
    if (!reads && !writes) return Statement{};
    const Reasons why = reasons(flow);
    const bool r = reads.value_or(false), w = writes.value_or(false);
    const Confidence confidence = reads && writes ? Confidence::high : Confidence::medium;
    if (!r && !w) return why.say("no_data", confidence);
    if (w && !r) return why.say("write_only", confidence);
    if (r && !w) return why.say("read_only", confidence);
    return in_time(flow, why);
}

Statement mode_of(const Statement& type) {
    Statement mode;  // it rests on the evidence of the type
    mode.value = type.value;
    mode.confidence = type.confidence;
    if (type.value == "no_data")
        mode.value = "none";
    else if (type.value != "write_only" && type.value != "read_only" && type.value != "not known")
        mode.value = "read_write";
    if (mode.value == "read_write") mode.confidence = Confidence::high;  // both did happen
    return mode;
}

Statement reuse_of(const Flow& flow) {
    Reasons why = reasons(flow);
    why.note("size", flow.size_bytes, "bytes")
        .note("repeated_reads", flow.repeated_reads, "calls")
        .note("repeated_writes", flow.repeated_writes, "calls")
        .note("read_again", flow.read_again, "elements")
        .note("written_again", flow.written_again, "elements");
    const auto some = [](const Count& calls, const Count& bytes) {
        return happened(calls, bytes).value_or(false);
    };
    if (!some(flow.volume.read_calls, flow.volume.bytes_read) &&
        !some(flow.volume.write_calls, flow.volume.bytes_written))
        return Statement{};  // what was never moved was not moved once
    const std::uint64_t size = flow.size_bytes.value_or(0);
    const bool counted = flow.repeated_reads || flow.repeated_writes;
    if (size == 0 && !counted) return Statement{};
    const bool read = flow.repeated_reads.value_or(0) + flow.read_again.value_or(0) > 0 ||
                      (size > 0 && flow.volume.bytes_read.value_or(0) > size);
    const bool written = flow.repeated_writes.value_or(0) + flow.written_again.value_or(0) > 0 ||
                         (size > 0 && flow.volume.bytes_written.value_or(0) > size);
    const Confidence confidence = counted ? Confidence::high : Confidence::medium;
    if (read && written) return why.say("re_read_and_rewritten", confidence);
    if (read) return why.say("re_read", confidence);
    if (written) return why.say("rewritten", confidence);
    // The same place once more right away is counted; after others it is known by the places alone.
    return why.say("once", flow.not_all_placed ? Confidence::medium : confidence);
}

Count done_of(const Transfers& transfers) {
    if (!transfers.calls) return std::nullopt;
    return *transfers.calls - std::min(*transfers.calls, transfers.failed.value_or(0));
}

std::uint64_t calls_done(const std::optional<Transfers>& transfers) {
    return transfers ? done_of(*transfers).value_or(0) : 0;
}

Count size_of(const Dataset& dataset) {
    Count elements = dataset.elements;
    if (!elements && !dataset.dims.empty()) {
        elements = 1;
        for (const std::uint64_t extent : dataset.dims) *elements *= extent;
    }
    if (!elements || !dataset.type || !dataset.type->bytes) return std::nullopt;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(*elements, *dataset.type->bytes, &bytes)) return std::nullopt;
    return bytes;
}

Flow flow_of(const Dataset& dataset) {
    Flow flow;
    flow.from = dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf";
    flow.volume.layers = {flow.from};
    const auto take = [](const std::optional<Transfers>& transfers, Count& bytes, Count& calls,
                         Seconds& elapsed, std::optional<Span>& active) {
        bytes = transfers ? transfers->bytes : Count(0);
        calls = transfers ? done_of(*transfers) : Count(0);
        // Of calls that all failed there is a time, but nothing was done in it.
        if (!transfers || (calls == Count(0) && transfers->failed.value_or(0) > 0)) return;
        elapsed = transfers->elapsed_s;
        active = transfers->active;
    };
    take(dataset.reads, flow.volume.bytes_read, flow.volume.read_calls, flow.volume.read_s,
         flow.reads);
    take(dataset.writes, flow.volume.bytes_written, flow.volume.write_calls, flow.volume.write_s,
         flow.writes);
    if (dataset.direct_chunk_reads) {
        flow.volume.bytes_read = sum(flow.volume.bytes_read, dataset.direct_chunk_reads->bytes);
        flow.volume.read_calls = sum(flow.volume.read_calls, dataset.direct_chunk_reads->calls);
    }
    if (dataset.direct_chunk_writes) {
        flow.volume.bytes_written =
            sum(flow.volume.bytes_written, dataset.direct_chunk_writes->bytes);
        flow.volume.write_calls = sum(flow.volume.write_calls, dataset.direct_chunk_writes->calls);
    }
    flow.size_bytes = size_of(dataset);
    flow.processes = dataset.processes.size();
    if (dataset.read_after_write) flow.read_after_write = *dataset.read_after_write;
    flow.repeated_reads = repeated(dataset.reads);
    flow.repeated_writes = repeated(dataset.writes);
    flow.read_again = touched_again(dataset.reads);
    flow.written_again = touched_again(dataset.writes);
    flow.not_all_placed = dataset.direct_chunk_reads || dataset.direct_chunk_writes ||
                          (calls_done(dataset.reads) > 0 && !flow.read_again) ||
                          (calls_done(dataset.writes) > 0 && !flow.written_again);
    return flow;
}

void add(Volume& to, const Volume& volume) {
    to.bytes_read = sum(to.bytes_read, volume.bytes_read);
    to.bytes_written = sum(to.bytes_written, volume.bytes_written);
    to.read_calls = sum(to.read_calls, volume.read_calls);
    to.write_calls = sum(to.write_calls, volume.write_calls);
    if (volume.read_s) to.read_s = to.read_s.value_or(0) + *volume.read_s;
    if (volume.write_s) to.write_s = to.write_s.value_or(0) + *volume.write_s;
    for (const std::string& layer : volume.layers)
        if (std::find(to.layers.begin(), to.layers.end(), layer) == to.layers.end())
            to.layers.push_back(layer);
    std::sort(to.layers.begin(), to.layers.end());
}

void add(Flow& to, const Flow& flow) {
    if (to.from.empty()) to.from = flow.from;
    add(to.volume, flow.volume);
    to.reads = cover(to.reads, flow.reads);
    to.writes = cover(to.writes, flow.writes);
    to.size_bytes = sum(to.size_bytes, flow.size_bytes);
    to.repeated_reads = sum(to.repeated_reads, flow.repeated_reads);
    to.repeated_writes = sum(to.repeated_writes, flow.repeated_writes);
    to.read_again = sum(to.read_again, flow.read_again);
    to.written_again = sum(to.written_again, flow.written_again);
    to.not_all_placed = to.not_all_placed || flow.not_all_placed;
    add_read_after_write(to, flow);
}

}  // namespace tailrace::intent
