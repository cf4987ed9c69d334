// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "intent/spool/coverage.hpp"
#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::size_t most_shapes = 8;
constexpr std::size_t most_shares = 256;
constexpr const char* cause_names[] = {
    "set_independent",          "datatype_conversion",  "data_transforms",
    "mpi_opt_types_disabled",   "not_simple_or_scalar", "not_contiguous_or_chunked",
    "filtered_writes_disabled", "error_while_checking", "no_selection_io"};

void sum_up(const TransfersRecord& record, Transfers& all) {
    add(all.calls, record.calls);
    add(all.bytes, record.bytes);
    add(all.elements, record.elements);
    add(all.multi, record.multi);
    add(all.whole, record.whole);
    add(all.empty, record.empty);
    add(all.failed, record.failed);
    add(all.requested_collective, record.requested_collective);
    add(all.requested_independent, record.requested_independent);
    all.elapsed_s = all.elapsed_s.value_or(0) + seconds(record.elapsed_ns);
    if (!all.actual) all.actual = Actual{};
    add(all.actual->collective, record.actual[actual_collective]);
    add(all.actual->chunk_collective, record.actual[actual_chunk_collective]);
    add(all.actual->mixed, record.actual[actual_mixed]);
    add(all.actual->independent, record.actual[actual_independent]);
    add(all.actual->none, record.actual[actual_none]);
    add(all.actual->not_known, record.actual[actual_not_known]);
    for (std::size_t bit = 0; bit < std::size(cause_names); ++bit) {
        if (record.causes[bit] > 0)
            all.no_collective_causes[cause_names[bit]] += record.causes[bit];
    }
    if (!all.order) all.order = Order{};
    add(all.order->sequential, record.sequential);
    add(all.order->strided, record.strided);
    add(all.order->random, record.random);
    add(all.order->repeated, record.repeated);
    add(all.order->chunk_changes, record.chunk_changes);
}

Selection selection(std::uint32_t kind) {
    switch (kind) {
        case select_all:
            return Selection::all;
        case select_hyperslab:
            return Selection::hyperslab;
        case select_points:
            return Selection::points;
        default:
            return Selection::irregular;
    }
}

/// The shapes of all processes, most frequent first.
class Shapes {
public:
    void add(const DecodedShape& shape) {
        x_calls[{shape.record.selection, shape.stride, shape.count, shape.block,
                 shape.record.call_bytes}] += shape.record.calls;
    }
    [[nodiscard]] std::vector<Shape> most_frequent() const {
        std::vector<Shape> shapes;
        for (const auto& [key, calls] : x_calls) {
            Shape shape;
            shape.selection = selection(std::get<0>(key));
            shape.calls = calls;
            shape.call_bytes = std::get<4>(key);
            const auto& count = std::get<2>(key);
            // Points and irregular selections have no counts per dimension.
            if (std::any_of(count.begin(), count.end(), [](auto n) { return n > 0; })) {
                shape.stride = std::get<1>(key);
                shape.count = count;
                shape.block = std::get<3>(key);
                for (std::size_t d = 0; d < count.size(); ++d) {
                    shape.length.push_back(count[d] * shape.block[d]);
                }
            }
            shapes.push_back(std::move(shape));
        }
        std::stable_sort(shapes.begin(), shapes.end(),
                         [](const auto& a, const auto& b) { return a.calls > b.calls; });
        if (shapes.size() > most_shapes) shapes.resize(most_shapes);
        return shapes;
    }

private:
    std::map<std::tuple<std::uint32_t, Extents, Extents, Extents, std::uint64_t>, std::uint64_t>
        x_calls;
};

ProcessShare share(const Member& member, const DecodedTransfers& from) {
    ProcessShare made;
    made.process = member.id;
    made.calls = from.record.calls;
    made.bytes = from.record.bytes;
    if (from.record.first_known != 0) made.first = CoveredBox{from.first_start, from.first_count};
    made.order_hash = hexadecimal(from.record.order_hash);
    return made;
}

/// One share per process, also where the dataset was made anew and so has several records.
void add_share(const Member& member, const DecodedTransfers& from,
               std::vector<ProcessShare>& shares) {
    if (!shares.empty() && shares.back().process == member.id) {
        add(shares.back().calls, from.record.calls);
        add(shares.back().bytes, from.record.bytes);
        shares.back().order_hash.reset();
    } else {
        shares.push_back(share(member, from));
    }
}

/// What all shares say together, before only the first ones are kept.
void sum_up_shares(Transfers& all) {
    const auto& first = all.by_process.front();
    all.processes = all.by_process.size();
    all.even =
        std::all_of(all.by_process.begin(), all.by_process.end(), [&](const ProcessShare& one) {
            return one.calls == first.calls && one.bytes == first.bytes;
        });
    if (all.by_process.size() > most_shares) all.by_process.resize(most_shares);
}

/// The step of strided transfers, where all processes have the same.
void add_step(const DecodedTransfers& from, Order& order, bool& first) {
    if (from.record.strided == 0) return;
    if (first) {
        order.step = from.step;
    } else if (order.step != from.step) {
        order.step.clear();
    }
    first = false;
}

/// Whether no element is in both; nothing where that takes too long to say.
std::optional<bool> are_apart(const Extents& dims, std::span<const DecodedPlace> some,
                              std::span<const DecodedPlace> others) {
    const auto a = boxes_of(some, dims);
    const auto b = boxes_of(others, dims);
    if (!a || !b) return std::nullopt;
    const auto together = distinct_elements(*a);
    const auto other = distinct_elements(*b);
    std::vector<core::Box> united = *a;
    united.insert(united.end(), b->begin(), b->end());
    const auto all = distinct_elements(united);
    if (!together || !other || !all) return std::nullopt;
    return *all == *together + *other;
}

/// Whether a process read what another one wrote: 0 no, 1 yes, 2 not known.
int read_from_other(const Extents& dims, const Part<DecodedDataset>& reader,
                    const Part<DecodedDataset>& writer) {
    const DecodedTransfers* read = of(*reader.record, reads);
    const DecodedTransfers* written = of(*writer.record, writes);
    if (read == nullptr || written == nullptr) return 0;
    if (read->record.calls + read->record.direct_calls == 0) return 0;
    const double written_from = writer.member.start_s + seconds(written->record.active.start_ns);
    const double written_to = writer.member.start_s + seconds(written->record.active.end_ns);
    const double read_from = reader.member.start_s + seconds(read->record.active.start_ns);
    const double read_to = reader.member.start_s + seconds(read->record.active.end_ns);
    if (read_to < written_from) return 0;
    const auto apart = are_apart(dims, read->places, written->places);
    if (!apart) return 2;
    if (!*apart) return read_from >= written_to ? 1 : 2;
    const bool one_life = read->record.lives_before == 0 && written->record.lives_before == 0;
    const bool complete = all_places_known(*read) && all_places_known(*written) && one_life;
    return complete ? 0 : 2;
}

}  // namespace

std::optional<Transfers> transfers(Direction direction, const Extents& dims,
                                   const std::vector<Part<DecodedDataset>>& parts) {
    Transfers all;
    Shapes shapes;
    bool first = true;
    for (const auto& part : parts) {
        const DecodedTransfers* from = of(*part.record, direction);
        if (from == nullptr || from->record.calls == 0) continue;
        sum_up(from->record, all);
        widen(all.active, from->record.active, part.member);
        add_step(*from, *all.order, first);
        for (const DecodedShape& shape : from->shapes) shapes.add(shape);
        add_share(part.member, *from, all.by_process);
    }
    if (!all.calls) return std::nullopt;
    sum_up_shares(all);
    all.shapes = shapes.most_frequent();
    all.coverage = coverage(direction, dims, parts);
    return all;
}

ReadAfterWrite read_after_write(const Extents& dims,
                                const std::vector<Part<DecodedDataset>>& parts) {
    ReadAfterWrite made;
    bool own = false;
    bool own_doubtful = false;
    bool other = false;
    bool other_doubtful = false;
    constexpr std::size_t most_pairs = 4096;
    std::size_t pairs = 0;
    for (const auto& reader : parts) {
        const DecodedTransfers* read = of(*reader.record, reads);
        if (read == nullptr) continue;
        own = own || read->record.after_own_write > 0;
        own_doubtful = own_doubtful || read->record.maybe_after_own_write > 0;
        for (const auto& writer : parts) {
            if (writer.member.id == reader.member.id || other) continue;
            const int answer = ++pairs > most_pairs ? 2 : read_from_other(dims, reader, writer);
            other = other || answer == 1;
            other_doubtful = other_doubtful || answer == 2;
        }
    }
    if (own || !own_doubtful) made.same_process = own;
    if (other || !other_doubtful) made.other_processes = other;
    if (own || other) {
        made.any = true;
    } else if (!own_doubtful && !other_doubtful) {
        made.any = false;
    }
    return made;
}

}  // namespace tailrace::intent::spool
