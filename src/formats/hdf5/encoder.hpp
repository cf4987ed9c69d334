// SPDX-License-Identifier: Apache-2.0
// Chunks through the filters of HDF5 itself, by one process: in a file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sink.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::hdf5 {

/// A chunk as it lies in a file.
struct Encoded {
    std::vector<std::byte> data;
    std::uint32_t filter_mask = 0;  ///< filters that did not want it
};

/// Encodes and decodes the chunks of one object. Every filter that HDF5 has, or finds as a plugin,
/// gives the bytes that HDF5 itself would store.
class Encoder {
public:
    /// @throws core::Error  [local]
    Encoder(const Options& options, const core::Object& object, const core::Extents& chunk);

    /// The chunk that `piece` holds whole, at `place` within the object; converts the type.
    /// [local]
    /// @throws core::Error
    [[nodiscard]] Encoded encode(const core::Write& piece, const core::Extents& place);
    /// A chunk in the type of the file, packed.  [local]
    /// @throws core::Error
    [[nodiscard]] Encoded encode(std::span<const std::byte> chunk);
    /// The elements of a stored chunk in the type of the file.  [local]
    /// @throws core::Error
    [[nodiscard]] std::vector<std::byte> decode(const Encoded& stored);
    /// A chunk of fill values in the type of the file.  [local]
    [[nodiscard]] std::vector<std::byte> blank() const;

private:
    [[nodiscard]] Encoded take();

    core::Object x_object;
    core::Extents x_chunk;
    std::uint64_t x_bytes;
    h5::Id x_file, x_dataset;
};

/// Converts `count` packed elements from the type in memory to that in the file, in place; `data`
/// holds the larger of both.  [local]
/// @throws core::Error
void convert_to_file_type(std::byte* data, std::uint64_t count, core::Scalar memory,
                          core::Scalar file);

}  // namespace tailrace::formats::hdf5
