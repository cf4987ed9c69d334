// SPDX-License-Identifier: Apache-2.0
// Chunks that were compressed elsewhere, stored by one rank alone.
#include "formats/hdf5/batch.hpp"
#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Code;
using core::EncodedChunk;
using core::Error;

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
    for (const EncodedChunk& chunk : chunks)
        check_chunk(x_options, x_datasets, chunk, x_target.path().string());
    const auto scope = x_phases.enter("write");
    for (const EncodedChunk& chunk : chunks) guarded([&] { store_chunk(chunk); });
}

}  // namespace tailrace::formats::hdf5
