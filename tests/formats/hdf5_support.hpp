// SPDX-License-Identifier: Apache-2.0
// What the tests of format hdf5 share: a domain cut over ranks, values that tell their position.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/box.hpp"
#include "core/phases.hpp"
#include "formats/hdf5/open.hpp"
#include "hdf5_oracle.hpp"
#include "mpi_test.hpp"

namespace hdf5_test {

using namespace tailrace;
namespace hdf5 = tailrace::formats::hdf5;
using core::Box;
using core::Extents;
using core::Object;
using core::Outcome;
using core::Scalar;
using core::Schema;
using core::Write;

/// Another value at every position, exact in f32 for small arrays.
inline float value_at(std::uint64_t index) { return static_cast<float>(index * 3 + 1); }

inline Object dense(const std::string& path, const Extents& dims) {
    Object object;
    object.path = path;
    for (std::uint64_t size : dims) object.dims.push_back({size, false});
    return object;
}

/// The elements of `box` of an array of `dims`, row-major.
inline std::vector<float> fill(const Box& box, const Extents& dims) {
    std::vector<float> data(static_cast<std::size_t>(box.volume()));
    core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) data[in_box + i] = value_at(at + i);
    });
    return data;
}

inline const std::byte* bytes(const std::vector<float>& data) {
    return reinterpret_cast<const std::byte*>(data.data());
}

inline core::Target target(const std::string& path) {
    core::Target one;
    one.path = path;
    return one;
}

/// Wrong elements of a dataset against value_at.
inline std::uint64_t wrong_elements(const oracle::Dataset& set) {
    std::uint64_t wrong = set.values.empty() ? 1 : 0;
    for (std::size_t i = 0; i < set.values.size(); ++i)
        if (set.values[i] != static_cast<double>(value_at(i))) ++wrong;
    return wrong;
}

/// This rank's part of step `step` of an array whose first dimension is the step, cut along 1.
inline Box my_part(const comm::Comm& comm, const Extents& dims, std::uint64_t step) {
    Box box = core::cut(dims, 1, static_cast<std::uint64_t>(comm.size()),
                        static_cast<std::uint64_t>(comm.rank()));
    box.offset[0] = step;
    box.count[0] = 1;
    return box;
}

inline void write_box(core::Sink& sink, core::ObjectId id, const Box& box, const Extents& dims) {
    const auto data = fill(box, dims);
    const Write piece{id, box, bytes(data), {}, Scalar::f32};
    sink.write({&piece, 1});
    sink.complete(box.offset.empty() ? 0 : box.offset[0]);
}

/// Writes /chunked of `dims` (first dimension: steps), each rank its part along dimension 1.
inline core::FileReport write_steps(const comm::Comm& comm, const std::string& path,
                                    const hdf5::Options& options, const Extents& dims,
                                    core::Phases& phases,
                                    std::vector<core::Attribute> attributes = {}) {
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, std::move(attributes)});
    for (std::uint64_t step = 0; step < dims[0]; ++step)
        write_box(*sink, ids[0], my_part(comm, dims, step), dims);
    return sink->close(Outcome::publish);
}

/// The same with chunks [1, dims[1] / 8, ...] and collective writes.
inline hdf5::Options chunked(const Extents& dims, bool collective) {
    hdf5::Options options;
    options.collective = collective;
    Extents chunk = dims;
    chunk[0] = 1;
    chunk[1] = std::max<std::uint64_t>(1, dims[1] / 8);
    options.chunks["/chunked"] = chunk;
    return options;
}

/// Element `at` of a one-dimensional f32 dataset, by serial HDF5 calls.
inline float element(const std::string& path, const std::string& name, hsize_t at) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), one = H5Screate(H5S_SCALAR);
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    float value = -1;
    if (H5Dread(set, H5T_NATIVE_FLOAT, one, space, H5P_DEFAULT, &value) < 0) value = -2;
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return value;
}

/// Of a one-dimensional f32 object every rank writes one element near the end and one across the
/// 2^31st; they are looked at when the file is closed.  [collective]
inline void write_far_elements(const comm::Comm& comm, core::Sink& sink, core::ObjectId id,
                               const std::string& path, std::uint64_t length) {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const std::vector<float> values{static_cast<float>(rank) + 1, static_cast<float>(rank) + 100};
    const std::uint64_t at[] = {length - 1 - rank, (std::uint64_t{1} << 31) - 1 + rank};
    std::vector<Write> pieces;
    for (std::size_t i = 0; i < 2; ++i)
        pieces.push_back(
            {id, {{at[i]}, {1}}, reinterpret_cast<const std::byte*>(&values[i]), {}, Scalar::f32});
    sink.write(pieces);
    sink.complete(0);
    (void)sink.close(Outcome::publish);
    CHECK(std::filesystem::file_size(path) >= length * 4);
    CHECK(element(path, "/x", at[0]) == values[0]);
    CHECK(element(path, "/x", at[1]) == values[1]);
    comm.barrier();
}

}  // namespace hdf5_test
