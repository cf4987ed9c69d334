// SPDX-License-Identifier: Apache-2.0
// What may not be asked for is refused on all ranks alike, before any I/O, and the file stays good.
#include <cstring>
#include <filesystem>
#include <functional>

#include "hdf5_support.hpp"

using namespace hdf5_test;
using core::Code;

namespace {

const Extents dims{2, 16, 6, 5};

/// The text of the Error that all ranks must get; empty where a rank got none or another code.
std::string refused(Code code, const std::function<void()>& work) {
    std::string text;
    try {
        work();
    } catch (const core::Error& error) {
        if (error.code() == code) text = error.what();
    }
    const bool all = test::on_all_ranks(!text.empty());
    return all && test::from_rank0(text) == text ? text : "";
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: wrong pieces on one rank are refused on all, the file goes on") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), chunked(dims, true), phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    const std::vector<float> data(2 * 16 * 6 * 5);
    const auto with = [&](Write wrong) {
        return [&sink, &comm, wrong] {
            // Only the last rank is wrong.
            sink->write({&wrong, comm.rank() == comm.size() - 1 ? 1U : 0U});
        };
    };
    Write wrong{ids[0], {{0, 0, 0, 0}, {1, 1, 1, 1}}, bytes(data), {}, Scalar::f32};
    wrong.object = 7;
    CHECK(contains(refused(Code::wrong_call, with(wrong)), "object 7 is not defined"));
    wrong.object = ids[0];
    wrong.place = {{0, 15, 0, 0}, {1, 2, 1, 1}};
    CHECK(contains(refused(Code::bad_input, with(wrong)), path + ": /chunked"));
    wrong.place = {{~std::uint64_t{0}, 0, 0, 0}, {2, 1, 1, 1}};
    CHECK(contains(refused(Code::bad_input, with(wrong)), "reaches outside"));
    wrong.place = {{0, 0, 0}, {1, 1, 1}};
    CHECK(contains(refused(Code::bad_input, with(wrong)), "4 dimensions"));
    wrong.place = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    wrong.data = nullptr;
    CHECK(contains(refused(Code::bad_input, with(wrong)), "no memory"));
    wrong.data = bytes(data);
    wrong.memory = {{1, 1, 1, 2}, {0, 0, 0, 2}};
    CHECK(contains(refused(Code::bad_input, with(wrong)), "memory layout"));
    for (std::uint64_t step = 0; step < dims[0]; ++step)
        write_box(*sink, ids[0], my_part(comm, dims, step), dims);
    (void)sink->close(Outcome::publish);
    if (comm.rank() == 0) CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: schemas that cannot be stored leave the file good") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto options = chunked(dims, true);
    options.chunks["/rank"] = {1, 2};
    options.chunks["/large"] = {1, 17, 6, 5};
    options.chunks["/zero"] = {1, 0, 6, 5};
    options.chunks["/huge"] = {std::uint64_t{1} << 30};
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    const auto define = [&](const Object& object, std::vector<core::Attribute> attributes = {}) {
        return [&sink, object, attributes] { (void)sink->define({{object}, attributes}); };
    };
    CHECK(contains(refused(Code::bad_input, define(dense("/rank", dims))), "chunk has 2 dim"));
    CHECK(contains(refused(Code::bad_input, define(dense("/large", dims))),
                   "chunk of 17 is larger than its extent 16"));
    CHECK(contains(refused(Code::bad_input, define(dense("/zero", dims))), "chunk is 0"));
    CHECK(contains(refused(Code::bad_input, define(dense("/huge", {std::uint64_t{1} << 31}))),
                   "4294967296 bytes is over HDF5's limit"));
    CHECK(contains(refused(Code::bad_input, define(dense("no_slash", dims))), "no path"));
    CHECK(contains(refused(Code::bad_input, define(dense("/deep", Extents(33, 1)))), "33 dim"));
    CHECK(contains(refused(Code::bad_input, define(dense("/o", {~std::uint64_t{0}, 16}))),
                   "does not fit 64 bits"));
    CHECK(contains(refused(Code::bad_input,
                           define(dense("/chunked", dims), {{"/nobody", "a", std::int32_t{1}}})),
                   "no object \"/nobody\""));
    core::Compound compound{"", 8, {{"a", 0, std::int64_t{1}}, {"b", 4, std::int32_t{1}}}};
    CHECK(
        contains(refused(Code::bad_input, define(dense("/chunked", dims), {{"/", "a", compound}})),
                 "overlaps"));
    if (comm.size() > 1)
        CHECK(contains(
            refused(Code::rank_mismatch,
                    [&] {
                        (void)sink->define({{dense("/d" + std::to_string(comm.rank()), dims)}, {}});
                    }),
            "different schemas"));
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    CHECK(contains(refused(Code::bad_input, define(dense("/chunked", dims))), "defined twice"));
    CHECK(contains(refused(Code::bad_input, define(dense("/chunked/sub", dims))),
                   "a dataset and a group"));
    for (std::uint64_t step = 0; step < dims[0]; ++step)
        write_box(*sink, ids[0], my_part(comm, dims, step), dims);
    (void)sink->close(Outcome::publish);
    CHECK(contains(refused(Code::wrong_call, [&] { sink->complete(9); }), "closed already"));
    if (comm.rank() == 0) CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: options that contradict each other create nothing") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    const auto open = [&](const hdf5::Options& options) {
        return [&comm, &folder, &phases, options] {
            (void)hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases);
        };
    };
    auto options = chunked(dims, false);
    options.deflate = 1;
    if (comm.size() > 1)
        CHECK(contains(refused(Code::bad_input, open(options)), "need collective writes"));
    options = chunked(dims, true);
    options.filters = {{32013, "zfp", {}}};
    const std::string text = refused(Code::unsupported, open(options));
    CHECK(contains(text, "no filter number 32013"));
    CHECK(contains(text, "HDF5_PLUGIN_PATH"));
    options = chunked(dims, true);
    options.libver_low = "v111";
    CHECK(contains(refused(Code::bad_input, open(options)), "did you mean"));
    options.libver_low = "latest";
    CHECK(contains(refused(Code::bad_input, open(options)), "above the upper one"));
    options = chunked(dims, true);
    options.subfiles = 1;
    // MPICH's one rank would hang there, and is told so first.
    const bool hangs = comm.size() == 1 && comm::library_version().starts_with("MPICH");
    const Code code = hangs ? Code::unsupported : Code::bad_input;
    CHECK(contains(refused(code, open(options)), hangs ? "hangs" : "contiguous"));
    options.chunks.clear();
    options.precreate = true;
    CHECK(contains(refused(code, open(options)), hangs ? "hangs" : "one rank alone"));
    CHECK(contains(refused(Code::no_such_directory,
                           [&] {
                               (void)hdf5::open_sink(comm, target(folder + "/nope/a.h5"),
                                                     chunked(dims, true), phases);
                           }),
                   "nope"));
    CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: a filter on a contiguous dataset, a file without objects") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    hdf5::Options options;
    options.collective = true;
    options.deflate = 1;
    auto sink = hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases);
    CHECK(contains(refused(Code::bad_input,
                           [&] {
                               (void)sink->define({{dense("/x", dims)}, {}});
                           }),
                   "wants a chunked dataset"));
    sink.reset();
    options = {};
    options.precreate = true;
    sink = hdf5::open_sink(comm, target(folder + "/b.h5"), options, phases);
    CHECK(contains(refused(Code::wrong_call, [&] { (void)sink->close(Outcome::publish); }),
                   "nothing was defined"));
    sink.reset();
    comm.barrier();
    CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: a file that is no HDF5 file gives an Error with HDF5's own words") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/text.h5";
    core::Phases phases;
    if (comm.rank() == 0) {
        std::FILE* file = std::fopen(path.c_str(), "w");
        std::fputs("not a file of that kind\n", file);
        std::fclose(file);
    }
    comm.barrier();
    const std::string text =
        refused(Code::io, [&] { (void)hdf5::open_source(comm, path, {}, phases); });
    CHECK(contains(text, "H5Fopen failed"));
    CHECK(contains(text, "signature"));
    // The error printer of the program is as it was.
    H5E_auto2_t printer = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    CHECK((printer != nullptr));
}
