// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks: other boxes than those that were written, and what is refused.
#include "hdf5_support.hpp"

using namespace hdf5_test;
using core::Read;

namespace {

const Extents dims{3, 16, 6, 5};

}  // namespace

TAILRACE_MPI_TEST("hdf5 source: the schema, and all elements by another decomposition") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    (void)write_steps(comm, path, chunked(dims, true), dims, phases, {{"/", "text", "x"}});
    for (const bool collective : {true, false}) {
        hdf5::Options options;
        options.collective = collective;
        options.collective_metadata = collective;
        auto source = hdf5::open_source(comm, path, options, phases);
        const Schema schema = source->schema();
        REQUIRE(schema.objects.size() == 1);
        CHECK(schema.objects[0] == dense("/chunked", dims));
        // Slabs of the last dimension: more ranks than elements leaves some with nothing.
        const Box box = core::cut(dims, 3, static_cast<std::uint64_t>(comm.size()),
                                  static_cast<std::uint64_t>(comm.rank()));
        std::vector<float> data(static_cast<std::size_t>(box.volume()), -1);
        Read piece{0, box, reinterpret_cast<std::byte*>(data.data()), Scalar::f32};
        source->read({&piece, box.empty() ? 0U : 1U});
        CHECK(data == fill(box, dims));
        // Two pieces on rank 0, converted, none elsewhere.
        std::vector<double> corner(2, -1);
        std::vector<Read> pieces;
        if (comm.rank() == 0)
            for (std::uint64_t i : {0, 1})
                pieces.push_back({0,
                                  {{2, 15, 5, 3 + i}, {1, 1, 1, 1}},
                                  reinterpret_cast<std::byte*>(&corner[i]),
                                  Scalar::f64});
        source->read(pieces);
        if (comm.rank() == 0)
            CHECK(corner == std::vector<double>{value_at(3 * 480 - 2), value_at(3 * 480 - 1)});
    }
}

TAILRACE_MPI_TEST("hdf5 source: a wrong box on one rank is refused on all, reading goes on") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    (void)write_steps(comm, path, chunked(dims, true), dims, phases);
    hdf5::Options options;
    options.collective = true;
    auto source = hdf5::open_source(comm, path, options, phases);
    std::vector<float> data(480, -1);
    Read piece{
        0, {{3, 0, 0, 0}, {1, 1, 1, 1}}, reinterpret_cast<std::byte*>(data.data()), Scalar::f32};
    const std::size_t mine = comm.rank() == comm.size() - 1 ? 1 : 0;
    TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, source->read({&piece, mine}));
    piece.object = 4;
    TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call, source->read({&piece, mine}));
    piece = {
        0, {{1, 0, 0, 0}, {1, 16, 6, 5}}, reinterpret_cast<std::byte*>(data.data()), Scalar::f32};
    source->read({&piece, 1});
    CHECK(data == fill(piece.place, dims));
}

TAILRACE_MPI_TEST("hdf5 source: a compound without dimensions, and members in no other type") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    Object pair = dense("/pair", {2});
    pair.members = {{"x", Scalar::f32}, {"n", Scalar::i32}};
    struct Pair {
        float x;
        std::int32_t n;
    } const given{1.5, 16777217};
    const bool mine = comm.rank() == comm.size() - 1;
    const Box box{{0}, {mine ? 2U : 0U}};
    const auto* data = reinterpret_cast<const std::byte*>(&given);
    for (const bool collective : {true, false}) {
        hdf5::Options options;
        options.collective = collective;
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        const auto ids = sink->define({{pair}, {}});
        Write piece{ids[0], box, data, {}, Scalar::f64};
        TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, sink->write({&piece, 1}));
        piece.type = Scalar::f32;
        sink->write({&piece, 1});
        sink->complete(0);
        (void)sink->close(Outcome::publish);
        auto source = hdf5::open_source(comm, path, options, phases);
        CHECK(source->schema().objects == std::vector<Object>{pair});
        Pair found[2] = {{-1, -1}, {-1, -1}};  // of twice the size
        Read read{0, box, reinterpret_cast<std::byte*>(found), Scalar::f64};
        TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, source->read({&read, 1}));
        read.type = Scalar::f32;
        source->read({&read, 1});
        CHECK(found[0].x == (mine ? given.x : -1));
        CHECK(found[0].n == (mine ? given.n : -1));
        CHECK(found[1].n == -1);
    }
}

TAILRACE_MPI_TEST("hdf5 source: a dataset without a space has no elements to read") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    if (comm.rank() == 0) {
        const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate(H5S_NULL), one = H5Screate(H5S_SCALAR);
        H5Dclose(H5Dcreate2(file, "/none", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT));
        H5Dclose(
            H5Dcreate2(file, "/one", H5T_NATIVE_FLOAT, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
        H5Sclose(one);
        H5Fclose(file);
    }
    comm.barrier();
    auto source = hdf5::open_source(comm, path, {}, phases);
    CHECK(source->schema().objects == std::vector<Object>{dense("/one", {})});
    float value = -1;
    Read read{0, {{}, {}}, reinterpret_cast<std::byte*>(&value), Scalar::f32};
    source->read({&read, 1});
    CHECK(value == 0);
}
