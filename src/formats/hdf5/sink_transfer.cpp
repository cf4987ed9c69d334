// SPDX-License-Identifier: Apache-2.0
// Writes: checked and agreed on before any I/O, then in rounds that all ranks take together.
#include <algorithm>

#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Error;
using core::Write;

Needs Hdf5Sink::needs(std::span<const Write> pieces) {
    return batch_needs(list_of(x_datasets), pieces, x_target.path().string());
}

void Hdf5Sink::transfer(std::span<const Write> pieces, std::span<const std::uint64_t> agreed) {
    const h5::Quiet quiet;
    const Batch batch = batch_of(list_of(x_datasets), pieces, agreed);
    grow(batch);
    transfer_batch(batch);
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

void Hdf5Sink::transfer_batch(const Batch& batch) {
    const bool together = shared() && x_options.collective;
    std::uint64_t rounds = 0;
    for (std::size_t i = 0; i < x_datasets.size(); ++i)
        rounds = std::max<std::uint64_t>(rounds, together ? batch.rounds[i] : batch.mine[i].size());
    if (x_options.multi_dataset) {
        for (std::uint64_t round = 0; round < rounds; ++round)
            transfer_round(batch, round, 0, x_datasets.size());
        return;
    }
    for (std::size_t i = 0; i < x_datasets.size(); ++i)
        for (std::uint64_t round = 0; round < rounds; ++round)
            transfer_round(batch, round, i, i + 1);
}

/// The pieces of one round of the datasets `first` to before `last`, with one call.
void Hdf5Sink::transfer_round(const Batch& batch, std::uint64_t round, std::size_t first,
                              std::size_t last) {
    const bool together = shared() && x_options.collective;
    if (failed() && !together) return;
    Selections all;
    guarded([&] {
        for (std::size_t i = first; i < last; ++i) {
            const auto& mine = batch.mine[i];
            if (round >= (together ? batch.rounds[i] : mine.size())) continue;
            // A rank that failed goes on with nothing, so that the others are not left waiting.
            const bool has = round < mine.size() && !failed();
            select(x_datasets[i], has ? mine[round] : nullptr, all);
        }
        transfer_selections(all);
    });
}

void Hdf5Sink::select(const Dataset& dataset, const Write* piece, Selections& all) {
    static const std::byte nothing{};
    const core::Object& object = dataset.object;
    h5::Id space = h5::space_of(dataset.id, x_target.path().string() + ":" + object.path);
    if (piece == nullptr)
        return all.add(dataset, selected_nothing(object, std::move(space)), &nothing);
    x_bytes_asked += piece->place.volume() * core::size_of(object.type);
    all.add(dataset, selected(object, piece->type, piece->place, piece->memory, std::move(space)),
            piece->data);
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
    if (shared() && x_options.collective)
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
