// SPDX-License-Identifier: Apache-2.0
// Some members of a compound: HDF5 reads what is there and writes whole elements, with all ranks.
#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

constexpr std::uint64_t members = 3, per_rank = 500;

Object compound(std::uint64_t elements) {
    Object object = dense("/a", {elements, members});
    object.members = {{"x", Scalar::f32}, {"y", Scalar::f32}, {"z", Scalar::f32}};
    return object;
}

/// Writes `mine` of each rank, in one batch that holds every element, and counts what is wrong.
template <class Mine>
std::uint64_t wrong_after(const hdf5::Options& options, Mine&& mine) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    const Extents dims{per_rank * static_cast<std::uint64_t>(comm.size()), members};
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    const auto ids = sink->define({{compound(dims[0])}, {}});
    std::vector<std::vector<float>> data;
    std::vector<Write> pieces;
    for (const Box& box : mine(comm.rank(), comm.size())) {
        data.push_back(fill(box, dims));
        pieces.push_back({ids[0], box, bytes(data.back()), {}, Scalar::f32});
    }
    sink->write(pieces);
    sink->complete(0);
    (void)sink->close(Outcome::publish);
    std::vector<float> all(static_cast<std::size_t>(dims[0] * members));
    auto source = hdf5::open_source(comm, path, options, phases);
    (void)source->schema();
    core::Read read{0, {{0, 0}, dims}, reinterpret_cast<std::byte*>(all.data()), Scalar::f32, {}};
    source->read({&read, 1});
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] != value_at(i);
    return wrong;
}

std::vector<Box> by_member(std::uint64_t first, std::uint64_t count) {
    std::vector<Box> boxes;
    for (std::uint64_t m = 0; m < members; ++m) boxes.push_back({{first, m}, {count, 1}});
    return boxes;
}

std::vector<hdf5::Options> variants() {
    std::vector<hdf5::Options> all(4);
    all[1].collective = all[2].collective = all[3].collective = true;
    all[2].chunks["/a"] = {64, members};
    all[3].multi_dataset = true;
    return all;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: members of elements, and a rank without any") {
    for (const auto& options : variants())
        CHECK(wrong_after(options, [](int rank, int size) {
                  const auto all = per_rank * static_cast<std::uint64_t>(size);
                  return rank == size - 1 ? by_member(0, all) : std::vector<Box>();
              }) == 0);
}

TAILRACE_MPI_TEST("hdf5: whole elements of one rank, members of the others") {
    for (const auto& options : variants())
        CHECK(wrong_after(options, [](int rank, int) {
                  const auto first = per_rank * static_cast<std::uint64_t>(rank);
                  if (rank != 0) return by_member(first, per_rank);
                  return std::vector<Box>{{{0, 0}, {per_rank, members}}};
              }) == 0);
}

TAILRACE_MPI_TEST("hdf5: members of the same elements by several ranks") {
    for (const auto& options : variants())
        CHECK(wrong_after(options, [](int rank, int size) {
                  const auto all = per_rank * static_cast<std::uint64_t>(size);
                  std::vector<Box> mine = by_member(0, all);
                  std::erase_if(mine, [&](const Box& box) {
                      return box.offset[1] % static_cast<std::uint64_t>(size) !=
                             static_cast<std::uint64_t>(rank);
                  });
                  return mine;
              }) == 0);
}
