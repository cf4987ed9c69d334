// SPDX-License-Identifier: Apache-2.0
// What the hooks of MPI-IO and of system calls saw of a file, over all processes.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::size_t most_shown = 8;
constexpr const char* filetype_names[filetypes] = {
    "basic", "contiguous", "vector", "indexed", "struct", "subarray", "darray", "resized", "other"};

using Tally = std::map<std::uint64_t, std::uint64_t>;

void add_frequent(Tally& all, const Frequent (&frequent)[most_frequent]) {
    for (const Frequent& one : frequent) {
        if (one.calls > 0) all[one.value] += one.calls;
    }
}

/// Most frequent first, the greater value first among equals.
template <typename Shown>
std::vector<Shown> shown(const Tally& all) {
    std::vector<Shown> list;
    for (const auto& [value, calls] : all) list.push_back({value, calls});
    std::sort(list.begin(), list.end(), [](const Shown& a, const Shown& b) {
        return std::tie(a.calls, a.bytes) > std::tie(b.calls, b.bytes);
    });
    if (list.size() > most_shown) list.resize(most_shown);
    return list;
}

/// Sizes over the processes, and what of them the profile shows.
struct SizesOfAll {
    std::array<std::uint64_t, size_classes> by_class{};
    Tally frequent;
    std::uint64_t largest = 0;

    void add(const Sizes& one) {
        for (std::size_t which = 0; which < size_classes; ++which) {
            by_class[which] += one.by_class[which];
        }
        add_frequent(frequent, one.frequent);
        largest = std::max(largest, one.largest);
    }
    [[nodiscard]] std::vector<SizeClass> classes() const {
        std::vector<SizeClass> list;
        for (std::size_t which = 0; which < size_classes; ++which) {
            if (by_class[which] == 0) continue;
            SizeClass made;
            made.from_bytes = which == 0 ? 0 : size_bounds[which - 1];
            if (which + 1 < size_classes) made.below_bytes = size_bounds[which];
            made.calls = by_class[which];
            list.push_back(made);
        }
        return list;
    }
};

/// Places in the file over the processes, and what of them the profile shows.
struct PlacesOfAll {
    std::uint64_t placed = 0;
    std::uint64_t consecutive = 0;
    std::uint64_t upwards = 0;
    std::uint64_t end_byte = 0;

    void add(const Steps& from, std::uint64_t bytes, const Member& member) {
        if (from.placed == 0) return;
        placed += from.placed;
        consecutive += from.consecutive;
        upwards += from.upwards;
        end_byte = std::max(end_byte, from.end_byte);
        for (std::size_t which = 0; which < x_order.size(); ++which)
            x_order[which] += from.order[which];
        if (from.steps > 0) {
            x_one_step = x_one_step && from.steps == 1 && x_step.value_or(from.step) == from.step;
            x_step = from.step;
        }
        if (from.end_byte == 0) return;
        const auto [at, fresh] = x_ranges.try_emplace(
            member.id, ByteRange{member.id, 0, 0, from.lowest_byte, from.end_byte});
        ByteRange& range = at->second;
        range.calls += from.placed;
        range.bytes += bytes;
        range.first_byte = std::min(range.first_byte, from.lowest_byte);
        range.end_byte = std::max(range.end_byte, from.end_byte);
    }
    [[nodiscard]] Order order() const {
        Order made{.sequential = x_order[0],
                   .strided = x_order[1],
                   .random = x_order[2],
                   .repeated = x_order[3]};
        if (x_step && x_one_step) made.step = {*x_step};
        return made;
    }
    /// None of a file of one process.
    [[nodiscard]] std::vector<ByteRange> ranges() const {
        std::vector<ByteRange> list;
        if (x_ranges.size() < 2) return list;
        for (const auto& [process, range] : x_ranges)
            if (list.size() < most_ranges) list.push_back(range);
        return list;
    }
    /// Nothing where no byte was touched.
    [[nodiscard]] std::optional<std::uint64_t> highest_byte() const {
        if (end_byte == 0) return std::nullopt;
        return end_byte - 1;
    }

private:
    std::array<std::uint64_t, 4> x_order{};
    std::optional<std::int64_t> x_step;
    bool x_one_step = true;
    std::map<std::uint64_t, ByteRange> x_ranges;
};

void add_time(Seconds& sum, std::int64_t ns) { sum = sum.value_or(0) + seconds(ns); }

std::uint64_t calls_of(const MpiioTransfersRecord& record) {
    const auto& counts = record.counts;
    return counts[call_independent] + counts[call_collective] + counts[call_nonblocking] +
           counts[call_split];
}

/// Where no read can have gone behind: libraries say of some reads what was asked for. Without an
/// answer of MPI, all that is known to be there was written.
std::uint64_t end_of_reads(const std::vector<Part<DecodedFile>>& parts) {
    bool asked = false;
    std::uint64_t end = 0;
    bool doubtful = false;
    for (const auto& part : parts) {
        if (!part.record->mpiio) continue;
        const MpiioRecord& from = part.record->mpiio->record;
        asked = asked || from.has_size != 0;
        end = std::max({end, from.size, from.transfers[writes].places.end_byte});
        const auto& counts = from.transfers[reads].counts;
        doubtful = doubtful || calls_of(from.transfers[reads]) > counts[call_independent];
    }
    return asked || doubtful ? end : UINT64_MAX;
}

std::optional<MpiioTransfers> mpiio_transfers(const std::vector<Part<DecodedFile>>& parts,
                                              Direction direction) {
    MpiioTransfers made;
    SizesOfAll sizes;
    PlacesOfAll places;
    const std::uint64_t end = direction == reads ? end_of_reads(parts) : UINT64_MAX;
    bool any = false;
    for (const auto& part : parts) {
        if (!part.record->mpiio) continue;
        const MpiioTransfersRecord& from = part.record->mpiio->record.transfers[direction];
        if (calls_of(from) + from.failed == 0) continue;
        any = true;
        add(made.independent, from.counts[call_independent]);
        add(made.collective, from.counts[call_collective]);
        add(made.nonblocking, from.counts[call_nonblocking]);
        add(made.split, from.counts[call_split]);
        add(made.explicit_offset, from.counts[call_explicit_offset]);
        add(made.shared, from.counts[call_shared]);
        add(made.ordered, from.counts[call_ordered]);
        add(made.nonblocking_collective, from.counts[call_nonblocking_collective]);
        add(made.failed, from.failed);
        add(made.bytes, from.bytes);
        add(made.not_placed, from.not_placed);
        add(made.in_pieces, from.in_pieces);
        add(made.irregular_pieces, from.irregular_pieces);
        Steps seen = from.places;
        seen.end_byte = seen.lowest_byte < end ? std::min(seen.end_byte, end) : 0;
        places.add(seen, from.placed_bytes, part.member);
        add_time(made.elapsed_s, from.elapsed_ns);
        widen(made.active, from.active, part.member);
        sizes.add(from.sizes);
    }
    if (!any) return std::nullopt;
    made.placed = places.placed;
    if (places.placed > 0) {
        made.highest_byte = places.highest_byte();
        made.order = places.order();
        made.ranges = places.ranges();
    }
    made.sizes = sizes.classes();
    made.frequent = shown<FrequentSize>(sizes.frequent);
    made.largest_bytes = sizes.largest;
    return made;
}

std::vector<MpiioView> views_of(const std::vector<Part<DecodedFile>>& parts) {
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<Key, MpiioView> kinds_of_view;
    for (const auto& part : parts) {
        if (!part.record->mpiio) continue;
        for (const ViewRecord& view : part.record->mpiio->views) {
            MpiioView& made = kinds_of_view[{view.filetype, view.etype_bytes, view.filetype_bytes,
                                             view.filetype_extent}];
            if (made.calls == 0) {
                made.filetype = filetype_names[view.filetype];
                made.etype_bytes = view.etype_bytes;
                made.filetype_bytes = view.filetype_bytes;
                made.filetype_extent_bytes = view.filetype_extent;
                made.displacement_bytes = static_cast<std::uint64_t>(view.first_displacement);
            }
            made.calls += view.calls;
        }
    }
    std::vector<MpiioView> list;
    for (const auto& [key, view] : kinds_of_view) list.push_back(view);
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.calls > b.calls; });
    if (list.size() > most_shown) list.resize(most_shown);
    return list;
}

/// In the order of `parts`, the first one wins: the hints of the lowest rank.
void add_hints(const DecodedMpiio& from, MpiioFile& made) {
    Texts given, in_force;
    std::map<std::pair<bool, std::string>, std::uint32_t> turns;
    for (const DecodedHint& hint : from.hints) {  // of one process the last one told holds
        std::uint32_t& turn = turns[{hint.in_force, hint.key}];
        if (hint.turn < turn) continue;
        turn = hint.turn;
        (hint.in_force ? in_force : given)[hint.key] = hint.value;
    }
    made.hints_given.merge(given);
    made.hints_in_force.merge(in_force);
}

std::optional<PosixTransfers> posix_transfers(const std::vector<const PosixTransfersRecord*>& all,
                                              const std::vector<Member>& members) {
    PosixTransfers made;
    SizesOfAll sizes;
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;
    PlacesOfAll places;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const PosixTransfersRecord& from = *all[at];
        failed += from.failed;
        if (from.calls == 0) continue;
        calls += from.calls;
        add(made.bytes, from.bytes);
        places.add(from.places, from.bytes, members[at]);
        add_time(made.elapsed_s, from.elapsed_ns);
        widen(made.active, from.active, members[at]);
        sizes.add(from.sizes);
    }
    if (calls == 0) return std::nullopt;
    made.calls = calls;
    made.failed = failed;
    made.consecutive = places.consecutive;
    made.sequential = places.upwards;
    made.highest_byte = places.highest_byte();
    made.sizes = sizes.classes();
    made.frequent = shown<FrequentSize>(sizes.frequent);
    made.order = places.order();
    made.ranges = places.ranges();
    return made;
}

/// The processes that needed the least and the most time, where there are several.
void add_extremes(const std::vector<const PosixRecord*>& records,
                  const std::vector<Member>& members, PosixFile& made) {
    std::map<std::uint64_t, std::pair<std::int64_t, std::uint64_t>> by_process;
    for (std::size_t at = 0; at < records.size(); ++at) {
        auto& [ns, bytes] = by_process[members[at].id];
        ns += records[at]->metadata_ns;
        for (const auto& transfers : records[at]->transfers) {
            ns += transfers.elapsed_ns;
            bytes += transfers.bytes;
        }
    }
    if (by_process.size() < 2) return;
    const auto less = [](const auto& a, const auto& b) { return a.second.first < b.second.first; };
    const auto extreme = [](const auto& one) {
        return Extreme{one.first, one.second.second, seconds(one.second.first)};
    };
    made.fastest = extreme(*std::min_element(by_process.begin(), by_process.end(), less));
    made.slowest = extreme(*std::max_element(by_process.begin(), by_process.end(), less));
}

constexpr std::uint64_t memory_alignment = 8;

}  // namespace

std::optional<MpiioFile> mpiio_file(const std::vector<Part<DecodedFile>>& parts) {
    MpiioFile made;
    bool any = false;
    std::uint64_t communicator = 0, opened_by = 0;
    for (const auto& part : parts) {
        if (!part.record->mpiio) continue;
        any = true;
        const MpiioRecord& from = part.record->mpiio->record;
        add(made.collective_opens, from.collective_opens);
        add(made.independent_opens, from.independent_opens);
        made.create_mode = made.create_mode.value_or(false) || from.create_opens > 0;
        add(made.append_opens, from.append_opens);
        opened_by |= from.opened_by;
        add(made.appended, from.appended);
        add(made.views, from.views);
        add(made.syncs, from.syncs);
        add(made.set_sizes, from.set_sizes);
        add(made.preallocations, from.preallocations);
        if (from.has_size != 0)
            made.size_bytes = std::max<std::uint64_t>(made.size_bytes.value_or(0), from.size);
        add(made.read_write_switches, from.switches);
        communicator = std::max<std::uint64_t>(communicator, from.communicator_size);
        widen(made.open, from.open, part.member);
        widen(made.close, from.close, part.member);
        add_time(made.metadata_s, from.metadata_ns);
        add_hints(*part.record->mpiio, made);
    }
    if (!any) return std::nullopt;
    if (communicator > 0) made.communicator_size = communicator;
    if (opened_by == mpi_io_ompio) made.implementation = "OMPIO";
    if (opened_by == mpi_io_romio) made.implementation = "ROMIO";
    made.view_kinds = views_of(parts);
    made.reads = mpiio_transfers(parts, reads);
    made.writes = mpiio_transfers(parts, writes);
    return made;
}

std::optional<PnetcdfFile> pnetcdf_file(const std::vector<Part<DecodedFile>>& parts) {
    PnetcdfFile made;
    bool any = false;
    for (const auto& part : parts) {
        if (!part.record->mpiio) continue;
        const MpiioRecord& from = part.record->mpiio->record;
        if (from.classic_creates + from.classic_growths == 0) continue;
        any = true;
        add(made.creates, from.classic_creates);
        add(made.redefinitions, from.classic_growths);
    }
    if (!any) return std::nullopt;
    return made;
}

std::optional<PosixFile> posix_file(const std::vector<Part<DecodedFile>>& parts,
                                    const std::optional<PosixRecord> DecodedFile::*layer) {
    std::vector<const PosixRecord*> records;
    std::vector<Member> members;
    std::uint64_t block_bytes = 0;
    for (const auto& part : parts) {
        const auto& record = (*part.record).*layer;
        if (!record) continue;
        records.push_back(&*record);
        members.push_back(part.member);
        block_bytes = std::max(block_bytes, part.record->record.block_bytes);
    }
    if (records.empty()) return std::nullopt;
    PosixFile made;
    Tally strides;
    std::array<std::vector<const PosixTransfersRecord*>, 2> transfers;
    bool append = false;
    for (std::size_t at = 0; at < records.size(); ++at) {
        const PosixRecord& from = *records[at];
        add(made.opens, from.opens);
        add(made.failed_opens, from.failed_opens);
        add(made.seeks, from.seeks);
        add(made.syncs, from.syncs);
        add(made.maps, from.maps);
        add(made.read_write_switches, from.switches);
        if (from.stream == 0) {
            add(made.not_aligned_in_file, from.not_aligned_in_file);
            add(made.not_aligned_in_memory, from.not_aligned_in_memory);
        }
        append = append || from.append_opens > 0;
        widen(made.open, from.open, members[at]);
        widen(made.close, from.close, members[at]);
        add_time(made.metadata_s, from.metadata_ns);
        add_frequent(strides, from.strides);
        for (const Direction direction : {reads, writes}) {
            transfers[direction].push_back(&from.transfers[direction]);
        }
    }
    made.append = append;
    made.strides = shown<FrequentStride>(strides);
    if (made.not_aligned_in_file && block_bytes > 0) {
        made.file_alignment_bytes = block_bytes;
        made.memory_alignment_bytes = memory_alignment;
    }
    made.reads = posix_transfers(transfers[reads], members);
    made.writes = posix_transfers(transfers[writes], members);
    add_extremes(records, members, made);
    return made;
}

}  // namespace tailrace::intent::spool
