// SPDX-License-Identifier: Apache-2.0
// Writes: checked and agreed on before any I/O, then in rounds that all ranks take together.
#include <algorithm>

#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Write;

Needs Hdf5Sink::needs(std::span<const Write> pieces) {
    return batch_needs(list_of(x_datasets), pieces, x_target.path().string());
}

void Hdf5Sink::transfer(std::span<const Write> pieces, std::span<const std::uint64_t> agreed) {
    const h5::Quiet quiet;
    const GroupedBatch batch = grouped(batch_of(list_of(x_datasets), pieces, agreed));
    grow(batch);
    if (batch.united) lengthen();
    transfer_batch(batch);
}

/// Where ranks write together, the calls are not to grow with their pieces; and through filters a
/// chunk goes once for all pieces of it.  [collective]
GroupedBatch Hdf5Sink::grouped(Batch plain) const {
    GroupedBatch batch{std::move(plain)};
    const bool many = std::any_of(batch.rounds.begin(), batch.rounds.end(),
                                  [](std::uint64_t rounds) { return rounds > 1; });
    const std::uint64_t at_once = x_options.multi_dataset ? x_datasets.size() : 1;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        const core::Object& object = x_datasets[i].object;
        const bool filtered = x_options.filtered(object.path);
        const Uniting how{together() || filtered ? united_bytes / at_once : 0,
                          chunk_of(x_options, object), filtered};
        batch.groups.push_back(groups_of(object, batch.mine[i], how));
    }
    if (!many || !together()) return batch;
    const std::vector<std::uint64_t> pieces = batch.rounds;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) batch.rounds[i] = batch.groups[i].size();
    const auto agreeing = x_phases.enter("agree");
    x_comm.reduce(batch.rounds, comm::Reduce::max);
    batch.united = batch.rounds != pieces;
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
        x_long = false;
    }
}

// Between united pieces of several ranks ROMIO reads what is there, and writes it back. Behind the
// end of the file that is memory that nobody has set: so the file is made as long as it will be.
void Hdf5Sink::lengthen() {
    if (x_long) return;
    x_long = true;
    guarded([&] { h5::flush(x_file, x_target.path().string()); });
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
        return all.add(dataset, selected_nothing(object, std::move(space)), &nothing);
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
