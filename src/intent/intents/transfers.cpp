// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/transfers.hpp"

#include <algorithm>
#include <map>

#include "intent/intents/access.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

constexpr double nearly_all = 0.8;

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

template <class T>
Order sum_of(const std::optional<T>& reads, const std::optional<T>& writes) {
    Order order;
    for (const auto* transfers : {&reads, &writes}) {
        if (!*transfers || !(*transfers)->order) continue;
        const Order& one = *(*transfers)->order;
        order.sequential = sum(order.sequential, one.sequential);
        order.strided = sum(order.strided, one.strided);
        order.random = sum(order.random, one.random);
        order.repeated = sum(order.repeated, one.repeated);
    }
    return order;
}

Statement order_counted(const Order& order, Reasons why) {
    why.note("sequential", order.sequential, "calls")
        .note("strided", order.strided, "calls")
        .note("random", order.random, "calls")
        .note("repeated", order.repeated, "calls");
    const std::pair<const char*, std::uint64_t> kinds[] = {
        {"sequential", order.sequential.value_or(0)},
        {"strided", order.strided.value_or(0)},
        {"random", order.random.value_or(0)},
        {"repeated", order.repeated.value_or(0)}};
    std::uint64_t all = 0;
    for (const auto& [word, calls] : kinds) all += calls;
    if (all == 0) return why.say("one_transfer", Confidence::high);
    for (const auto& [word, calls] : kinds)
        if (share(calls, all) >= nearly_all) return why.say(word, Confidence::high);
    return why.say("mixed", Confidence::high);
}

bool is_counted(const Order& order) {
    return order.sequential || order.strided || order.random || order.repeated;
}

std::uint64_t strided_calls(const PosixFile& file, std::uint64_t calls) {
    std::uint64_t most = 0;
    for (const FrequentStride& stride : file.strides)
        if (stride.bytes > 0) most = std::max(most, stride.calls);
    return std::min(most, calls);
}

Actual sum_of_actual(const Dataset& dataset) {
    Actual all;
    for (const auto* transfers : {&dataset.reads, &dataset.writes}) {
        if (!*transfers || !(*transfers)->actual) continue;
        const Actual& one = *(*transfers)->actual;
        all.collective = sum(all.collective, one.collective);
        all.chunk_collective = sum(all.chunk_collective, one.chunk_collective);
        all.mixed = sum(all.mixed, one.mixed);
        all.independent = sum(all.independent, one.independent);
        all.none = sum(all.none, one.none);
    }
    return all;
}

template <class T, class Less>
void keep_most_frequent(std::vector<T>& list, const Less& more) {
    std::stable_sort(list.begin(), list.end(), more);
    if (list.size() > most_frequent) list.resize(most_frequent);
}

bool more_calls(const TransferSize& a, const TransferSize& b) {
    return a.calls != b.calls ? a.calls > b.calls : a.bytes > b.bytes;
}

bool same_shape(const Segment& a, const Segment& b) {
    return a.selection == b.selection && a.length == b.length && a.stride == b.stride &&
           a.block == b.block && a.access_bytes == b.access_bytes && a.direction == b.direction;
}

/// Writes that were done, those of whole chunks by the program itself among them.
std::uint64_t writes_of(const Dataset& dataset) {
    const auto& direct = dataset.direct_chunk_writes;
    return calls_done(dataset.writes) + (direct ? direct->calls.value_or(0) : 0);
}

/// How often one extent became greater from one call to the next, of the one that did most often
/// and is greater in the end.
std::uint64_t growths_in(const std::vector<Extents>& sequence) {
    std::uint64_t most = 0;
    if (sequence.empty()) return most;
    for (std::size_t d = 0; d < sequence.front().size(); ++d) {
        std::uint64_t growths = 0;
        for (std::size_t i = 1; i < sequence.size(); ++i) {
            const Extents &before = sequence[i - 1], &after = sequence[i];
            growths += d < before.size() && d < after.size() && after[d] > before[d] ? 1 : 0;
        }
        const bool grown = d < sequence.back().size() && sequence.back()[d] > sequence.front()[d];
        if (grown) most = std::max(most, growths);
    }
    return most;
}

bool mostly_random(const std::optional<Transfers>& transfers) {
    if (!transfers || !transfers->order) return false;
    const Order& order = *transfers->order;
    const std::uint64_t random = order.random.value_or(0);
    const std::uint64_t others =
        order.sequential.value_or(0) + order.strided.value_or(0) + order.repeated.value_or(0);
    return random > others;
}

/// Who appends makes room again and again, and writes in some order. Room that is made once is a
/// size that was not known before.
Statement append_by_extents(const Dataset& dataset, const Extensions& extensions, Reasons why) {
    const std::uint64_t calls = extensions.calls.value_or(0);
    const std::uint64_t growths = growths_in(extensions.sequence);
    why.note("extensions", Count(calls), "calls")
        .note("write_calls", Count(writes_of(dataset)), "calls");
    if (calls < 2 || writes_of(dataset) == 0) return why.say("no", Confidence::high);
    if (mostly_random(dataset.writes))
        return why.note("random", dataset.writes->order->random, "calls")
            .say("no", Confidence::medium);
    if (extensions.sequence.empty()) return why.say("yes", Confidence::medium);
    why.note("growths", Count(growths), "calls");
    if (growths > 1) return why.say("yes", Confidence::high);
    // What stood there before the first call is not known: it may have grown by that one too.
    if (growths == 1) return why.say("yes", Confidence::medium);
    // Calls of other processes, or between the first and the last ones, are not shown.
    const bool all_shown = calls <= extensions.sequence.size();
    return why.say("no", all_shown ? Confidence::high : Confidence::medium);
}

}  // namespace

Statement order_of(const Dataset& dataset) {
    const Order order = sum_of(dataset.reads, dataset.writes);
    Reasons why(dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf");
    if (is_counted(order)) return order_counted(order, why);
    const std::uint64_t processes = dataset.processes.size();
    const std::uint64_t most = std::max(calls_done(dataset.reads), calls_done(dataset.writes));
    if (most == 0 || processes == 0) return Statement{};
    why.note("calls", Count(most), "calls").note("processes", Count(processes), "processes");
    if (most <= processes) return why.say("one_transfer", Confidence::medium);
    return why.say("not known", Confidence::low);
}

Statement order_of(const PosixFile& file, const std::string& layer, std::uint64_t processes) {
    Reasons why(layer);
    const Order traced = sum_of(file.reads, file.writes);
    std::uint64_t calls = 0, consecutive = 0, sequential = 0;
    bool known = false;
    for (const auto* transfers : {&file.reads, &file.writes}) {
        if (!*transfers || (*transfers)->calls.value_or(0) == 0) continue;
        const PosixTransfers& one = **transfers;
        known = known || one.consecutive || one.sequential;
        const std::uint64_t first = std::min(processes, *one.calls);
        calls += *one.calls - first;
        consecutive += one.consecutive.value_or(0);
        sequential += one.sequential.value_or(0);
    }
    if (is_counted(traced)) return order_counted(traced, why);
    if (!known) return Statement{};
    if (calls == 0) {
        why.note("processes", Count(processes), "processes");
        // One that follows on another of its process is not the only one of it.
        if (consecutive == 0) return why.say("one_transfer", Confidence::medium);
        return why.note("consecutive", Count(consecutive), "calls")
            .say("sequential", Confidence::medium);
    }
    const std::uint64_t strided = strided_calls(file, calls);
    const double in_a_row = std::min(1.0, share(consecutive, calls));
    const double upwards = std::min(1.0, share(sequential, calls));
    why.note("calls_after_the_first", Count(calls), "calls")
        .share("consecutive", in_a_row)
        .share("sequential", upwards)
        .share("most_frequent_stride", share(strided, calls));
    if (in_a_row >= nearly_all) return why.say("sequential", Confidence::high);
    if (share(strided, calls) >= 0.5) return why.say("strided", Confidence::medium);
    if (upwards >= nearly_all) return why.say("sequential", Confidence::medium);
    if (upwards < 0.5) return why.say("random", Confidence::medium);
    return why.say("mixed", Confidence::medium);
}

Statement order_of(const MpiioFile& file) {
    std::uint64_t placed = 0, not_placed = 0, in_pieces = 0, irregular = 0;
    for (const auto* transfers : {&file.reads, &file.writes}) {
        if (!*transfers) continue;
        placed += (*transfers)->placed.value_or(0);
        not_placed += (*transfers)->not_placed.value_or(0);
        in_pieces += (*transfers)->in_pieces.value_or(0);
        irregular += (*transfers)->irregular_pieces.value_or(0);
    }
    if (placed == 0) return Statement{};
    Reasons why("mpiio");
    why.note("placed", Count(placed), "calls")
        .note("not_placed", Count(not_placed), "calls")
        .note("in_pieces", Count(in_pieces), "calls");
    if (irregular > 0) why.note("irregular_pieces", Count(irregular), "calls");
    Statement order = share(in_pieces, placed) >= nearly_all
                          ? why.say("strided", Confidence::high)
                          : order_counted(sum_of(file.reads, file.writes), why);
    if (share(in_pieces, placed) < nearly_all && share(in_pieces, placed) > 1 - nearly_all)
        order.value = "mixed";
    if (irregular > 0 || not_placed > 0) order.confidence = Confidence::medium;
    return order;
}

Statement collective_of(const Dataset& dataset) {
    Reasons why(dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf");
    Count asked, independent;
    for (const auto* transfers : {&dataset.reads, &dataset.writes}) {
        if (!*transfers) continue;
        asked = sum(asked, (*transfers)->requested_collective);
        independent = sum(independent, (*transfers)->requested_independent);
    }
    const Actual actual = sum_of_actual(dataset);
    const Count done = sum(actual.collective, actual.chunk_collective);
    const Count not_done = sum(actual.mixed, actual.independent);
    why.note("requested_collective", asked, "calls")
        .note("requested_independent", independent, "calls")
        .note("actually_collective", done, "calls")
        .note("actually_independent", not_done, "calls");
    if (asked && *asked > 0 && (done || not_done)) {
        if (done.value_or(0) == 0) return why.say("not_done_though_requested", Confidence::high);
        if (not_done.value_or(0) == 0 && independent.value_or(0) == 0)
            return why.say("done", Confidence::high);
        return why.say("partly", Confidence::high);
    }
    if (asked && *asked > 0)
        return why.say(independent.value_or(0) > 0 ? "partly" : "requested", Confidence::high);
    if (asked) return why.say("not_requested", Confidence::high);
    if (!dataset.requested_collective) return Statement{};
    why.note("requested_by_any", std::string(*dataset.requested_collective ? "yes" : "no"));
    return *dataset.requested_collective ? why.say("requested", Confidence::medium)
                                         : why.say("not_requested", Confidence::high);
}

Statement collective_of(const MpiioFile& file) {
    Reasons why("mpiio");
    Count together, alone;
    for (const auto* transfers : {&file.reads, &file.writes}) {
        if (!*transfers) continue;
        const MpiioTransfers& one = **transfers;
        together = sum(together, sum(one.collective, one.split));
        together = sum(together, one.nonblocking_collective);
        alone = sum(alone, sum(one.independent, one.nonblocking));
        if (alone) *alone -= std::min(*alone, one.nonblocking_collective.value_or(0));
    }
    if (!together && !alone) return Statement{};
    why.note("collective_calls", together, "calls").note("independent_calls", alone, "calls");
    if (together.value_or(0) == 0)
        return why.say(alone.value_or(0) == 0 ? "not known" : "not_requested", Confidence::high);
    return why.say(alone.value_or(0) == 0 ? "requested" : "partly", Confidence::high);
}

Statement coverage_of(const Dataset& dataset) {
    Reasons why(dataset.interface == Interface::hdf5 ? "hdf5" : "pnetcdf");
    if (calls_done(dataset.writes) == 0) return Statement{};
    const Transfers& writes = *dataset.writes;
    const Count size = size_of(dataset);
    why.note("bytes_written", writes.bytes, "bytes").note("size", size, "bytes");
    if (writes.coverage) {
        why.note("elements_distinct", writes.coverage->elements_distinct, "elements");
        // Not every source counts what is written as whole chunks among what is covered.
        const bool sure = writes.coverage->full.value_or(false) || !dataset.direct_chunk_writes;
        if (writes.coverage->full)
            return why.say(*writes.coverage->full ? "yes" : "no",
                           sure ? Confidence::high : Confidence::medium);
    }
    if (size && writes.bytes && *writes.bytes < *size && !dataset.direct_chunk_writes)
        return why.say("no", Confidence::high);
    // Who noted down the places, and says nothing of them, has its reasons: a dataset made anew.
    if (!writes.coverage && writes.whole.value_or(0) > 0)
        return why.note("whole", writes.whole, "calls").say("yes", Confidence::high);
    return why.say("not known", Confidence::low);
}

Statement append_of(const Dataset& dataset) {
    Reasons why("hdf5");
    if (dataset.extensions && dataset.extensions->calls)
        return append_by_extents(dataset, *dataset.extensions, why);
    if (writes_of(dataset) == 0 && dataset.writes) return why.say("no", Confidence::high);
    const bool fixed = !dataset.max_dims.empty() &&
                       std::all_of(dataset.max_dims.begin(), dataset.max_dims.end(),
                                   [](const Count& extent) { return extent.has_value(); });
    if (fixed) return why.note("unlimited_dimensions", Count(0), "").say("no", Confidence::high);
    return Statement{};
}

Statement append_of(const PosixFile& file, const std::string& layer, std::uint64_t processes) {
    Reasons why(layer);
    if (!file.writes || file.writes->calls.value_or(0) == 0) return Statement{};
    if (file.append) {
        why.note("opened_for_append", std::string(*file.append ? "yes" : "no"));
        if (*file.append) return why.say("yes", Confidence::high);
    }
    const PosixTransfers& writes = *file.writes;
    if (processes != 1 || !writes.bytes || !writes.highest_byte || !writes.consecutive)
        return Statement{};
    // Who maps a file may write no more than its last byte, so that it has its size.
    if (file.maps.value_or(0) > 0) return Statement{};
    why.note("bytes_written", writes.bytes, "bytes")
        .note("last_byte_written", writes.highest_byte, "bytes")
        .note("consecutive", writes.consecutive, "calls")
        .note("write_calls", writes.calls, "calls");
    const bool in_a_row = *writes.consecutive + file.opens.value_or(1) >= *writes.calls;
    if (in_a_row && *writes.highest_byte + 1 > *writes.bytes)
        return why.say("yes", Confidence::medium);
    return in_a_row ? why.say("no", Confidence::medium) : Statement{};
}

Statement append_of(const MpiioFile& file) {
    if (!file.writes || file.append_opens.value_or(0) == 0) return Statement{};
    const MpiioTransfers& writes = *file.writes;
    Reasons why("mpiio");
    why.note("append_opens", file.append_opens, "opens")
        .note("appended", file.appended, "calls")
        .note("not_placed", writes.not_placed, "calls");
    // The mode only puts file pointers at the end: what counts is where they wrote.
    const std::uint64_t appended = file.appended.value_or(0);
    const std::uint64_t placed = writes.placed.value_or(0);
    if (appended == 0 || appended < placed) return Statement{};
    return why.say("yes",
                   writes.not_placed.value_or(0) > 0 ? Confidence::medium : Confidence::high);
}

Statement alignment_of(const PosixFile& file) {
    Reasons why("posix");
    std::uint64_t calls = 0;
    for (const auto* transfers : {&file.reads, &file.writes})
        if (*transfers) calls += (*transfers)->calls.value_or(0);
    if (!file.not_aligned_in_file || calls == 0) return Statement{};
    const double part = std::min(1.0, share(*file.not_aligned_in_file, calls));
    why.note("not_aligned", file.not_aligned_in_file, "calls")
        .note("calls", Count(calls), "calls")
        .note("block", file.file_alignment_bytes, "bytes")
        .share("not_aligned_share", part);
    if (part < 0.1) return why.say("aligned", Confidence::high);
    return why.say(part > 0.9 ? "not_aligned" : "partly", Confidence::high);
}

std::vector<Segment> segments_of(const Dataset& dataset) {
    std::vector<Segment> segments;
    const auto take = [&](const std::vector<Shape>& shapes) {
        std::vector<Segment> some;
        for (const Shape& shape : shapes)
            some.push_back({shape.selection, shape.length, shape.stride, shape.block, shape.calls,
                            shape.call_bytes, std::nullopt});
        add(segments, some);
    };
    take(dataset.shapes);
    if (dataset.reads) take(dataset.reads->shapes);
    if (dataset.writes) take(dataset.writes->shapes);
    return segments;
}

std::vector<TransferSize> sizes_of(const std::vector<Segment>& segments,
                                   const Count& element_bytes) {
    std::vector<TransferSize> sizes;
    for (const Segment& segment : segments) {
        if (!segment.access_bytes) continue;
        const bool known = element_bytes && *element_bytes > 0;
        add(sizes, {{*segment.access_bytes, segment.count,
                     known ? Count(*segment.access_bytes / *element_bytes) : std::nullopt}});
    }
    return sizes;
}

std::vector<TransferSize> sizes_of(const std::vector<std::vector<FrequentSize>>& frequent) {
    std::vector<TransferSize> sizes;
    for (const auto& list : frequent)
        for (const FrequentSize& one : list) add(sizes, {{one.bytes, one.calls, std::nullopt}});
    return sizes;
}

void add(std::vector<TransferSize>& to, const std::vector<TransferSize>& sizes) {
    for (const TransferSize& size : sizes) {
        const auto same = std::find_if(
            to.begin(), to.end(), [&](const TransferSize& one) { return one.bytes == size.bytes; });
        if (same == to.end()) {
            to.push_back(size);
            continue;
        }
        same->calls += size.calls;
        if (same->elements != size.elements) same->elements.reset();
    }
    keep_most_frequent(to, more_calls);
}

void add(std::vector<Segment>& to, const std::vector<Segment>& segments) {
    for (const Segment& segment : segments) {
        const auto same = std::find_if(
            to.begin(), to.end(), [&](const Segment& one) { return same_shape(one, segment); });
        if (same == to.end())
            to.push_back(segment);
        else
            same->count += segment.count;
    }
    // Among equals in the order of the sizes: the k-th of both belong together.
    keep_most_frequent(to, [](const Segment& a, const Segment& b) {
        return a.count != b.count ? a.count > b.count
                                  : a.access_bytes.value_or(0) > b.access_bytes.value_or(0);
    });
}

}  // namespace tailrace::intent
