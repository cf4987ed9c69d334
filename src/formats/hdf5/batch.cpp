// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/batch.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "formats/agree.hpp"
#include "formats/pieces.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;
using core::Write;

bool grows(const core::Object& object) {
    return std::any_of(object.dims.begin(), object.dims.end(),
                       [](const core::Extent& dim) { return dim.unlimited; });
}

void check_pieces(std::span<const Dataset> datasets, std::span<const Write> pieces,
                  const std::string& file) {
    for (const Write& piece : pieces) {
        if (piece.object >= datasets.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not defined; there are " +
                            std::to_string(datasets.size()),
                        file, "use an id that define() returned");
        check_write(piece, datasets[piece.object].object, H5S_UNLIMITED - 1);
    }
}

}  // namespace

Batch agree_on_batch(const comm::Comm& comm, std::span<const Dataset> datasets,
                     std::span<const Write> pieces, const std::string& file) {
    const std::optional<Error> bad =
        comm::Comm::caught([&] { check_pieces(datasets, pieces, file); });
    Batch batch;
    batch.mine.resize(datasets.size());
    batch.rounds.resize(datasets.size());
    for (const Write& piece : pieces)
        if (!bad && !piece.place.empty()) batch.mine[piece.object].push_back(&piece);
    // One reduction for all: whether a rank has bad arguments, the rounds of every object, then the
    // ends of those that grow.
    std::vector<std::uint64_t> wanted{bad ? std::uint64_t{1} : 0};
    for (const auto& mine : batch.mine) wanted.push_back(mine.size());
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        if (!grows(datasets[i].object)) continue;
        core::Extents extents = datasets[i].dims;
        for (const Write* piece : batch.mine[i])
            for (std::size_t d = 0; d < extents.size(); ++d)
                extents[d] = std::max(extents[d], piece->place.offset[d] + piece->place.count[d]);
        wanted.insert(wanted.end(), extents.begin(), extents.end());
    }
    comm.reduce(wanted, comm::Reduce::max);
    if (wanted.front() != 0) agree_in_file(comm, bad, file);  // throws on all ranks
    auto next = wanted.begin() + 1 + static_cast<std::ptrdiff_t>(datasets.size());
    std::copy(wanted.begin() + 1, next, batch.rounds.begin());
    for (const Dataset& dataset : datasets) {
        batch.extents.push_back(dataset.dims);
        if (!grows(dataset.object)) continue;
        std::copy_n(next, dataset.dims.size(), batch.extents.back().begin());
        next += static_cast<std::ptrdiff_t>(dataset.dims.size());
    }
    return batch;
}

void check_chunk(const Options& options, std::span<const Dataset> datasets,
                 const core::EncodedChunk& chunk, const std::string& file) {
    if (chunk.object >= datasets.size())
        throw Error(Code::wrong_call, "object " + std::to_string(chunk.object) + " is not defined",
                    file, "use an id that define() returned");
    const Dataset& dataset = datasets[chunk.object];
    const core::Object& object = dataset.object;
    const core::Extents extents = chunk_of(options, object);
    bool aligned = !extents.empty() && chunk.offset.size() == extents.size();
    for (std::size_t d = 0; aligned && d < extents.size(); ++d)
        aligned = chunk.offset[d] % extents[d] == 0 && chunk.offset[d] < dataset.dims[d];
    if (!aligned)
        throw Error(Code::bad_input, "no chunk begins there", object.path,
                    "give the position of a chunk's first element, within the extents");
    const std::uint64_t whole =
        core::checked_product(extents, object.path) * core::size_of(object.type);
    if (!options.filtered() && chunk.data.size() != whole)
        throw Error(Code::bad_input,
                    "a chunk without filters has " + std::to_string(whole) + " bytes, not " +
                        std::to_string(chunk.data.size()),
                    object.path, "give all elements of the chunk");
}

}  // namespace tailrace::formats::hdf5
