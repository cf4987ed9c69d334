// SPDX-License-Identifier: Apache-2.0
// Writes: checked and agreed on before any I/O, then in rounds that all ranks take together.
#include <algorithm>

#include "core/checked.hpp"
#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;
using core::Write;

bool grows(const core::Object& object) {
    return std::any_of(object.dims.begin(), object.dims.end(),
                       [](const core::Extent& dim) { return dim.unlimited; });
}

void check_memory(const Write& piece, const std::string& where) {
    if (piece.data == nullptr)
        throw Error(Code::bad_input, "a piece with elements has no data", where,
                    "pass the address of its first element");
    const core::MemLayout& memory = piece.memory;
    if (memory.dims.empty()) return;
    const core::Box inside{memory.offset, piece.place.count};
    if (memory.offset.size() != memory.dims.size() ||
        memory.dims.size() != piece.place.count.size() || !inside.inside(memory.dims))
        throw Error(Code::bad_input,
                    "its memory layout does not hold the box " + piece.place.text(), where,
                    "give extents and offset of the array that holds the box");
}

}  // namespace

void Hdf5Sink::check_pieces(std::span<const Write> pieces) const {
    for (const Write& piece : pieces) {
        if (piece.object >= x_datasets.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not defined; there are " +
                            std::to_string(x_datasets.size()),
                        x_target.path().string(), "use an id that define() returned");
        const core::Object& object = x_datasets[piece.object].object;
        const core::Box& box = piece.place;
        if (box.rank() != object.dims.size() || box.offset.size() != box.count.size())
            throw Error(Code::bad_input,
                        "the box " + box.text() + " has not its " +
                            std::to_string(object.dims.size()) + " dimensions",
                        object.path, "give one offset and count per dimension");
        if (box.empty()) continue;
        core::Extents limits = object.sizes();
        for (std::size_t d = 0; d < limits.size(); ++d)
            if (object.dims[d].unlimited) limits[d] = H5S_UNLIMITED - 1;
        if (!box.inside(limits))
            throw Error(Code::bad_input, "the box " + box.text() + " reaches outside", object.path,
                        "write inside " + core::Box{core::Extents(limits.size()), limits}.text());
        (void)core::checked_mul(box.volume(), core::size_of(object.type), object.path);
        check_memory(piece, object.path);
    }
}

Hdf5Sink::Batch Hdf5Sink::agree_on_batch(std::span<const Write> pieces) {
    const auto scope = x_phases.enter("agree");
    const std::optional<Error> bad = comm::Comm::caught([&] { check_pieces(pieces); });
    Batch batch;
    batch.mine.resize(x_datasets.size());
    batch.rounds.resize(x_datasets.size());
    for (const Write& piece : pieces)
        if (!bad && !piece.place.empty()) batch.mine[piece.object].push_back(&piece);
    // One reduction for all: whether a rank has bad arguments, the rounds of every object, then the
    // ends of those that grow.
    std::vector<std::uint64_t> wanted{bad ? std::uint64_t{1} : 0};
    for (const auto& mine : batch.mine) wanted.push_back(mine.size());
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        if (!grows(x_datasets[i].object)) continue;
        core::Extents extents = x_datasets[i].dims;
        for (const Write* piece : batch.mine[i])
            for (std::size_t d = 0; d < extents.size(); ++d)
                extents[d] = std::max(extents[d], piece->place.offset[d] + piece->place.count[d]);
        wanted.insert(wanted.end(), extents.begin(), extents.end());
    }
    x_comm.reduce(wanted, comm::Reduce::max);
    if (wanted.front() != 0) x_comm.agree(bad);  // throws on all ranks
    auto next = wanted.begin() + 1 + static_cast<std::ptrdiff_t>(x_datasets.size());
    std::copy(wanted.begin() + 1, next, batch.rounds.begin());
    for (const Dataset& dataset : x_datasets) {
        batch.extents.push_back(dataset.dims);
        if (!grows(dataset.object)) continue;
        std::copy_n(next, dataset.dims.size(), batch.extents.back().begin());
        next += static_cast<std::ptrdiff_t>(dataset.dims.size());
    }
    return batch;
}

void Hdf5Sink::write(std::span<const Write> pieces) {
    const h5::Quiet quiet;
    refuse_if_lost();
    const Batch batch = agree_on_batch(pieces);
    const auto scope = x_phases.enter("write");
    grow(batch);
    transfer(batch);
}

void Hdf5Sink::grow(const Batch& batch) {
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        Dataset& dataset = x_datasets[i];
        if (batch.extents[i] == dataset.dims) continue;
        const std::vector<hsize_t> dims(batch.extents[i].begin(), batch.extents[i].end());
        const auto error = comm::Comm::caught([&] {
            h5::check(H5Dset_extent(dataset.id.get(), dims.data()), "H5Dset_extent",
                      dataset.object.path);
        });
        if (!x_pending) x_pending = error;
        dataset.dims = batch.extents[i];
    }
}

void Hdf5Sink::transfer(const Batch& batch) {
    const bool together = shared() && x_options.collective;
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        const auto& mine = batch.mine[i];
        const std::uint64_t rounds = together ? batch.rounds[i] : mine.size();
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const Write* piece = round < mine.size() ? mine[round] : nullptr;
            // A rank that failed goes on with nothing, so that the others are not left waiting.
            if (x_pending && !together) return;
            if (x_pending) piece = nullptr;
            const auto error =
                comm::Comm::caught([&] { transfer_one(x_datasets[i], piece, x_transfer); });
            if (!x_pending) x_pending = error;
        }
    }
}

void Hdf5Sink::transfer_one(const Dataset& dataset, const Write* piece, const h5::Id& list) {
    const std::string where = x_target.path().string() + ":" + dataset.object.path;
    const h5::Id in_file = h5::space_of(dataset.id, where);
    h5::Id in_memory;
    static const std::byte nothing{};
    const void* data = &nothing;
    hid_t type = h5::memory_type(dataset.object.type);
    if (piece == nullptr) {
        in_memory = h5::scalar_space();
        h5::select_none(in_memory);
        h5::select_none(in_file);
    } else {
        const core::MemLayout& memory = piece->memory;
        in_memory = h5::simple_space(memory.dims.empty() ? piece->place.count : memory.dims);
        if (!memory.dims.empty()) h5::select(in_memory, {memory.offset, piece->place.count});
        h5::select(in_file, piece->place);
        data = piece->data;
        type = h5::memory_type(piece->type);
        x_bytes_asked += piece->place.volume() * core::size_of(dataset.object.type);
    }
    h5::check(H5Dwrite(dataset.id.get(), type, in_memory.get(), in_file.get(), list.get(), data),
              "H5Dwrite", where);
    if (shared() && x_options.collective)
        x_modes.note(list);
    else
        x_modes.note_independent();
}

void Hdf5Sink::complete(core::Step step) {
    const h5::Quiet quiet;
    refuse_if_lost();
    const auto mine = std::exchange(x_pending, std::nullopt);
    agree(mine, "writing step " + std::to_string(step));
}

core::Ticket Hdf5Sink::sync(core::Durability durability) {
    const h5::Quiet quiet;
    refuse_if_lost();
    if (durability == core::Durability::none) return {};
    const std::string name = x_target.path().string();
    collective_step("flush", "flushing " + name, [&] { h5::flush(x_file, name); });
    if (durability == core::Durability::durable) {
        try {
            x_target.sync();
        } catch (const Error& error) {
            lose(error, core::io_observer() == nullptr);
        }
    }
    return {};
}

}  // namespace tailrace::formats::hdf5
