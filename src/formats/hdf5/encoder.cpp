// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/encoder.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "core/checked.hpp"
#include "formats/hdf5/properties.hpp"

namespace tailrace::formats::hdf5 {

namespace {

/// A file that never reaches a disk; each has a name of its own, under which nothing can lie.
h5::Id memory_file() {
    static std::atomic<unsigned> count{0};
    const std::string name = "/dev/null/encoder-" + std::to_string(count++);
    constexpr std::size_t increment_bytes = std::size_t{1} << 20U;
    const h5::Id access = h5::property_list(H5P_FILE_ACCESS, "file access");
    h5::check(H5Pset_fapl_core(access.get(), increment_bytes, false), "H5Pset_fapl_core", "encoder",
              core::Code::internal);
    return h5::create_file(name, file_creation(Options{}), access);
}

/// A cache for exactly one chunk.
h5::Id one_chunk_cached(std::uint64_t bytes) {
    h5::Id access = h5::property_list(H5P_DATASET_ACCESS, "dataset access");
    h5::check(H5Pset_chunk_cache(access.get(), 1, static_cast<std::size_t>(bytes), 1.0),
              "H5Pset_chunk_cache", "encoder", core::Code::internal);
    return access;
}

/// Where and how much HDF5 has of a chunk; H5Dread_chunk2 came with HDF5 2.0.
herr_t read_chunk(const h5::Id& dataset, const std::vector<hsize_t>& origin, Encoded& encoded) {
#if H5_VERSION_GE(2, 0, 0)
    std::size_t bytes = 0;
    if (H5Dread_chunk2(dataset.get(), H5P_DEFAULT, origin.data(), &encoded.filter_mask, nullptr,
                       &bytes) < 0)
        return -1;
    encoded.data.resize(bytes);
    return H5Dread_chunk2(dataset.get(), H5P_DEFAULT, origin.data(), &encoded.filter_mask,
                          encoded.data.data(), &bytes);
#else
    hsize_t bytes = 0;
    if (H5Dflush(dataset.get()) < 0 ||
        H5Dget_chunk_storage_size(dataset.get(), origin.data(), &bytes) < 0)
        return -1;
    encoded.data.resize(static_cast<std::size_t>(bytes));
    return H5Dread_chunk(dataset.get(), H5P_DEFAULT, origin.data(), &encoded.filter_mask,
                         encoded.data.data());
#endif
}

}  // namespace

Encoder::Encoder(const Options& options, const core::Object& object, const core::Extents& chunk)
    : x_object(object),
      x_chunk(chunk),
      x_bytes(core::checked_mul(core::checked_product(chunk, object.path),
                                core::size_of(object.type), object.path)),
      x_file(memory_file()) {
    x_dataset =
        h5::create_dataset(x_file, "/chunk", h5::file_type(object.type), h5::simple_space(chunk),
                           dataset_creation(options, object), one_chunk_cached(x_bytes));
}

Encoded Encoder::encode(const core::Write& piece, const core::Extents& place) {
    core::Extents memory = piece.memory.dims, begin = piece.memory.offset;
    if (memory.empty()) {
        memory = piece.place.count;
        begin.assign(memory.size(), 0);
    }
    for (std::size_t d = 0; d < begin.size(); ++d) begin[d] += place[d] - piece.place.offset[d];
    const h5::Id in_memory = h5::simple_space(memory);
    h5::select(in_memory, {begin, x_chunk});
    h5::check(H5Dwrite(x_dataset.get(), h5::memory_type(piece.type), in_memory.get(), H5S_ALL,
                       H5P_DEFAULT, piece.data),
              "H5Dwrite", x_object.path);
    return take();
}

Encoded Encoder::encode(std::span<const std::byte> chunk) {
    h5::check(H5Dwrite(x_dataset.get(), h5::file_type(x_object.type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       chunk.data()),
              "H5Dwrite", x_object.path);
    return take();
}

Encoded Encoder::take() {
    Encoded encoded;
    h5::check(read_chunk(x_dataset, std::vector<hsize_t>(x_chunk.size()), encoded), "H5Dread_chunk",
              x_object.path);
    return encoded;
}

std::vector<std::byte> Encoder::decode(const Encoded& stored) {
    const std::vector<hsize_t> origin(x_chunk.size());
    h5::check(H5Dwrite_chunk(x_dataset.get(), H5P_DEFAULT, stored.filter_mask, origin.data(),
                             stored.data.size(), stored.data.data()),
              "H5Dwrite_chunk", x_object.path);
    std::vector<std::byte> elements(static_cast<std::size_t>(x_bytes));
    h5::check(H5Dread(x_dataset.get(), h5::file_type(x_object.type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                      elements.data()),
              "H5Dread", x_object.path);
    return elements;
}

std::vector<std::byte> Encoder::blank() const {
    std::vector<std::byte> elements(static_cast<std::size_t>(x_bytes));
    if (!x_object.fill.set) return elements;
    const std::size_t size = core::size_of(x_object.type);
    std::byte value[8];
    std::visit(
        [&](const auto& number) {
            using Number = std::decay_t<decltype(number)>;
            static_assert(sizeof number == sizeof value);
            std::memcpy(value, &number, sizeof value);
            convert_to_file_type(value, 1, core::scalar_of_number<Number>(), x_object.type);
        },
        x_object.fill.value);
    for (std::size_t at = 0; at < elements.size(); at += size)
        std::memcpy(elements.data() + at, value, size);
    return elements;
}

void convert_to_file_type(std::byte* data, std::uint64_t count, core::Scalar memory,
                          core::Scalar file) {
    h5::check(H5Tconvert(h5::memory_type(memory), h5::file_type(file),
                         static_cast<std::size_t>(count), data, nullptr, H5P_DEFAULT),
              "H5Tconvert", "elements of a chunk");
}

}  // namespace tailrace::formats::hdf5
