// SPDX-License-Identifier: Apache-2.0
// Writes: checked and agreed on before any I/O, then in rounds that all ranks take together.
#include <algorithm>
#include <cstring>

#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Write;

namespace {

/// Values that are copied at most so that one call writes them.
constexpr std::uint64_t united_bytes = std::uint64_t{64} << 20U;

/// The elements of compounds that pieces touch, whatever their members; without elements where
/// there are no pieces.
core::Box elements_around(const std::vector<const Write*>& pieces, std::size_t rank) {
    core::Box all{core::Extents(rank), core::Extents(rank)};
    for (const Write* piece : pieces) {
        core::Box box = piece->place;
        box.offset.back() = 0;
        box.count.back() = 1;
        all = all.empty() ? box : around(all, box);
    }
    return all;
}

bool some_intersect(std::vector<core::Box> boxes) {
    std::erase_if(boxes, [](const core::Box& box) { return box.empty(); });
    std::sort(boxes.begin(), boxes.end(),
              [](const core::Box& a, const core::Box& b) { return a.offset < b.offset; });
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t j = i + 1; j < boxes.size(); ++j) {
            if (boxes[j].offset[0] >= boxes[i].offset[0] + boxes[i].count[0]) break;
            if (!core::intersect(boxes[i], boxes[j]).empty()) return true;
        }
    return false;
}

}  // namespace

// For members, in the order of the compounds: whether this rank writes some of them only.
Needs Hdf5Sink::needs(std::span<const Write> pieces) {
    Needs needs = batch_needs(list_of(x_datasets), pieces, x_target.path().string());
    std::vector<std::uint64_t> partial(x_datasets.size());
    if (!needs.bad)
        for (const Write& piece : pieces)
            if (const std::size_t all = x_datasets[piece.object].object.members.size();
                all != 0 && !piece.place.empty() && piece.place.count.back() != all)
                partial[piece.object] = 1;
    for (std::size_t i = 0; i < x_datasets.size(); ++i)
        if (!x_datasets[i].object.members.empty()) needs.most.push_back(partial[i]);
    return needs;
}

void Hdf5Sink::transfer(std::span<const Write> pieces, std::span<const std::uint64_t> agreed) {
    const h5::Quiet quiet;
    bool partial = false;
    for (std::size_t i = x_datasets.size(), next = agreed.size(); i-- > 0;) {
        if (x_datasets[i].object.members.empty()) continue;
        x_datasets[i].partial = shared() && agreed[--next] != 0;
        partial = partial || x_datasets[i].partial;
    }
    const auto parts = partial ? in_members(pieces) : std::vector<Write>();
    GroupedBatch batch =
        grouped(batch_of(list_of(x_datasets), partial ? std::span(parts) : pieces, agreed));
    grow(batch);
    if (!partial || !share_elements(batch)) return transfer_batch(batch);
    // HDF5 writes whole elements with what it has read: one rank after the other.
    GroupedBatch nothing = batch;
    for (auto& groups : nothing.groups) groups.clear();
    for (int turn = 0; turn < x_comm.size(); ++turn) {
        transfer_batch(turn == x_comm.rank() ? batch : nothing);
        x_comm.barrier();
    }
}

/// Whole elements as two pieces where others write some members: only for some does HDF5 read what
/// is there, and ranks that write together must read together.
std::vector<Write> Hdf5Sink::in_members(std::span<const Write> pieces) const {
    std::vector<Write> parts;
    for (const Write& piece : pieces) {
        const Dataset& dataset = x_datasets[piece.object];
        const std::size_t all = dataset.object.members.size();
        Write& first = parts.emplace_back(piece);
        if (!dataset.partial || piece.place.empty() || piece.place.count.back() != all) continue;
        if (piece.memory.dims.empty())
            first.memory = {piece.place.count, core::Extents(piece.place.rank())};
        first.place.count.back() = 1;
        Write rest = first;
        rest.place.offset.back() += 1;
        rest.place.count.back() = all - 1;
        rest.memory.offset.back() += 1;
        parts.push_back(std::move(rest));
    }
    return parts;
}

/// Whether ranks may write members of the same elements.  [collective]
bool Hdf5Sink::share_elements(const Batch& batch) const {
    const auto agreeing = x_phases.enter("agree");
    bool some = false;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        if (!x_datasets[i].partial) continue;
        const std::size_t rank = x_datasets[i].object.dims.size();
        const core::Box mine = elements_around(batch.mine[i], rank);
        std::vector<std::uint64_t> numbers = mine.offset;
        numbers.insert(numbers.end(), mine.count.begin(), mine.count.end());
        std::vector<core::Box> boxes;
        for (const auto& bytes : x_comm.gather(std::as_bytes(std::span(numbers)))) {
            std::memcpy(numbers.data(), bytes.data(), bytes.size());
            const auto half = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
            boxes.push_back({{numbers.begin(), half}, {half, numbers.end()}});
        }
        some = some || some_intersect(std::move(boxes));
    }
    return x_comm.broadcast_value(std::uint64_t{some ? 1U : 0U}) != 0;
}

/// Where ranks write together, the calls are not to grow with their pieces.  [collective]
GroupedBatch Hdf5Sink::grouped(Batch plain) const {
    GroupedBatch batch{std::move(plain)};
    bool many = std::any_of(batch.rounds.begin(), batch.rounds.end(),
                            [](std::uint64_t rounds) { return rounds > 1; });
    for (const Dataset& dataset : x_datasets) many = many || dataset.partial;
    const std::uint64_t at_once = x_options.multi_dataset ? x_datasets.size() : 1;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        const core::Object& object = x_datasets[i].object;
        const Uniting how{together() ? united_bytes / at_once : 0, chunk_of(x_options, object),
                          x_options.filtered()};
        batch.groups.push_back(groups_of(object, batch.mine[i], how));
    }
    if (!many || !together()) return batch;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) batch.rounds[i] = batch.groups[i].size();
    const auto agreeing = x_phases.enter("agree");
    x_comm.reduce(batch.rounds, comm::Reduce::max);
    return batch;
}

void Hdf5Sink::grow(const Batch& batch) {
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        Dataset& dataset = x_datasets[i];
        if (batch.extents[i] == dataset.dims) continue;
        const core::Extents extents = in_file(dataset.object, batch.extents[i]);
        const std::vector<hsize_t> dims(extents.begin(), extents.end());
        guarded([&] {
            h5::check(H5Dset_extent(dataset.id.get(), dims.data()), "H5Dset_extent",
                      dataset.object.path);
        });
        dataset.dims = batch.extents[i];
    }
}

void Hdf5Sink::transfer_batch(const GroupedBatch& batch) {
    std::uint64_t rounds = 0;
    for (std::size_t i = 0; i < x_datasets.size(); ++i)
        rounds =
            std::max<std::uint64_t>(rounds, together() ? batch.rounds[i] : batch.groups[i].size());
    if (x_options.multi_dataset) {
        for (std::uint64_t round = 0; round < rounds; ++round)
            transfer_round(batch, round, 0, x_datasets.size());
        return;
    }
    for (std::size_t i = 0; i < x_datasets.size(); ++i)
        for (std::uint64_t round = 0; round < rounds; ++round)
            transfer_round(batch, round, i, i + 1);
}

/// One group of each of the datasets `first` to before `last`, with one call.
void Hdf5Sink::transfer_round(const GroupedBatch& batch, std::uint64_t round, std::size_t first,
                              std::size_t last) {
    if (failed() && !together()) return;
    Selections all;
    const auto prepare = [&](bool with_pieces) {
        all = {};
        for (std::size_t i = first; i < last; ++i) {
            const auto& mine = batch.groups[i];
            if (round >= (together() ? batch.rounds[i] : mine.size())) continue;
            select(x_datasets[i], with_pieces && round < mine.size() ? mine[round] : Group{}, all);
        }
    };
    // A rank that failed goes on with nothing, so that the others are not left waiting.
    if (!failed()) guarded([&] { prepare(true); });
    if (failed() && !together()) return;
    guarded([&] {
        if (failed()) prepare(false);
        transfer_selections(all);
    });
}

void Hdf5Sink::select(const Dataset& dataset, const Group& group, Selections& all) {
    static const std::byte nothing{};
    const core::Object& object = dataset.object;
    h5::Id space = h5::space_of(dataset.id, x_target.path().string() + ":" + object.path);
    if (group.pieces.empty())
        return all.add(
            dataset,
            selected_nothing(object, dataset.partial ? 1 : object.members.size(), std::move(space)),
            &nothing);
    const std::uint64_t size = core::size_of(object.type);
    if (group.pieces.size() == 1) {
        const Write& piece = *group.pieces.front();
        x_bytes_asked += piece.place.volume() * size;
        return all.add(dataset,
                       selected(object, piece.type, piece.place, piece.memory, std::move(space)),
                       piece.data);
    }
    United united = unite(object, dataset.dims, group, std::move(space));
    x_bytes_asked += united.elements * size;
    all.values.push_back(std::move(united.values));
    all.add(dataset, std::move(united.selected), all.values.back().get());
}

void Hdf5Sink::transfer_selections(const Selections& all) {
    if (all.datasets.empty()) return;
    const std::string where = x_target.path().string() + ":" + all.first_path;
    if (all.datasets.size() == 1)
        h5::check(H5Dwrite(all.datasets[0], all.types[0], all.memory[0], all.file[0],
                           x_transfer.get(), all.data[0]),
                  "H5Dwrite", where);
    else
        h5::check(
            h5::write_several(all.datasets, all.types, all.memory, all.file, x_transfer, all.data),
            "H5Dwrite_multi", where);
    if (together())
        x_modes.note(x_transfer);
    else
        x_modes.note_independent();
}

void Hdf5Sink::Selections::add(const Dataset& dataset, Selected piece, const void* from) {
    if (datasets.empty()) first_path = dataset.object.path;
    datasets.push_back(dataset.id.get());
    types.push_back(piece.type.get());
    memory.push_back(piece.in_memory.get());
    file.push_back(piece.in_file.get());
    data.push_back(from);
    owned.push_back(std::move(piece));
}

void Hdf5Sink::flush() {
    const h5::Quiet quiet;
    const std::string name = x_target.path().string();
    collective_step("flush", "flushing " + name, [&] { h5::flush(x_file, name); });
}

}  // namespace tailrace::formats::hdf5
