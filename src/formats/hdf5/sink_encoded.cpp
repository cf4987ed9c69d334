// SPDX-License-Identifier: Apache-2.0
// Chunks that were compressed elsewhere, stored by one rank alone.
#include "core/checked.hpp"
#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Code;
using core::EncodedChunk;
using core::Error;

void Hdf5Sink::check_chunk(const EncodedChunk& chunk) const {
    if (chunk.object >= x_datasets.size())
        throw Error(Code::wrong_call, "object " + std::to_string(chunk.object) + " is not defined",
                    x_target.path().string(), "use an id that define() returned");
    const Dataset& dataset = x_datasets[chunk.object];
    const core::Object& object = dataset.object;
    const core::Extents extents = chunk_of(x_options, object);
    bool aligned = !extents.empty() && chunk.offset.size() == extents.size();
    for (std::size_t d = 0; aligned && d < extents.size(); ++d)
        aligned = chunk.offset[d] % extents[d] == 0 && chunk.offset[d] < dataset.dims[d];
    if (!aligned)
        throw Error(Code::bad_input, "no chunk begins there", object.path,
                    "give the position of a chunk's first element, within the extents");
    const bool filtered = x_options.deflate != 0 || !x_options.filters.empty();
    const std::uint64_t whole =
        core::checked_product(extents, object.path) * core::size_of(object.type);
    if (!filtered && chunk.data.size() != whole)
        throw Error(Code::bad_input,
                    "a chunk without filters has " + std::to_string(whole) + " bytes, not " +
                        std::to_string(chunk.data.size()),
                    object.path, "give all elements of the chunk");
}

void Hdf5Sink::store_chunk(const EncodedChunk& chunk) {
    const Dataset& dataset = x_datasets[chunk.object];
    const std::vector<hsize_t> offset(chunk.offset.begin(), chunk.offset.end());
    h5::check(H5Dwrite_chunk(dataset.id.get(), H5P_DEFAULT, chunk.filter_mask, offset.data(),
                             chunk.data.size(), chunk.data.data()),
              "H5Dwrite_chunk", x_target.path().string() + ":" + dataset.object.path);
    x_modes.note_independent();
    x_bytes_asked += chunk.data.size();
}

void Hdf5Sink::write_encoded(std::span<const EncodedChunk> chunks) {
    const h5::Quiet quiet;
    refuse_if_lost();
    if (chunks.empty()) return;
    if (!x_can.encoded_chunks)
        throw Error(Code::wrong_call,
                    "chunks that were compressed elsewhere cannot be stored by one rank of several "
                    "here: it would change metadata that all ranks hold",
                    x_target.path().string(),
                    "ask can().encoded_chunks first; write() the elements with collective_write");
    for (const EncodedChunk& chunk : chunks) check_chunk(chunk);
    const auto scope = x_phases.enter("write");
    for (const EncodedChunk& chunk : chunks) {
        const auto error = comm::Comm::caught([&] { store_chunk(chunk); });
        if (!x_pending) x_pending = error;
    }
}

}  // namespace tailrace::formats::hdf5
