// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/batch.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "formats/file/agree.hpp"
#include "formats/sink/pieces.hpp"

namespace tailrace::formats::hdf5 {

using core::Code;
using core::Error;

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
    if (!options.filtered(object.path) && chunk.data.size() != whole)
        throw Error(Code::bad_input,
                    "a chunk without filters has " + std::to_string(whole) + " bytes, not " +
                        std::to_string(chunk.data.size()),
                    object.path, "give all elements of the chunk");
}

}  // namespace tailrace::formats::hdf5
