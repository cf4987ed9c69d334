// SPDX-License-Identifier: Apache-2.0
// Chunks that were compressed elsewhere: allowed where one rank alone changes no shared metadata.
#include <zlib.h>

#include <filesystem>
#include <memory>

#include "hdf5_support.hpp"
#include "own_filter.hpp"

using namespace hdf5_test;

namespace {

const Extents dims{2, 16, 6, 5};
const Extents chunk{1, 2, 6, 5};

}  // namespace

TAILRACE_MPI_TEST("hdf5: raw chunks, each stored by one rank alone") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto options = chunked(dims, false);
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    REQUIRE(sink->can().encoded_chunks);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    // Chunk k belongs to rank k % size: other numbers of calls on every rank.
    for (std::uint64_t k = 0; k < 16; ++k) {
        if (k % static_cast<std::uint64_t>(comm.size()) != static_cast<std::uint64_t>(comm.rank()))
            continue;
        const Box box{{k / 8, k % 8 * 2, 0, 0}, chunk};
        const auto data = fill(box, dims);
        const core::EncodedChunk one{ids[0], box.offset, 0, std::as_bytes(std::span(data))};
        sink->write_encoded({&one, 1});
    }
    // Refused by the rank that asks, alone.
    const std::vector<float> part(30);
    const core::EncodedChunk inside{ids[0], {0, 1, 0, 0}, 0, std::as_bytes(std::span(part))};
    TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, sink->write_encoded({&inside, 1}));
    const core::EncodedChunk too_short{ids[0], {0, 2, 0, 0}, 0, std::as_bytes(std::span(part))};
    TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, sink->write_encoded({&too_short, 1}));
    sink->complete(0);
    (void)sink->close(Outcome::publish);
    if (comm.rank() == 0) CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: compressed chunks by one rank; by several only where ranks encode") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    for (const bool ranks_encode : {false, true}) {
        const std::string path = folder + (ranks_encode ? "/r.h5" : "/l.h5");
        auto options = chunked(dims, true);
        options.deflate = 6;
        options.encode_on_ranks = ranks_encode;
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        const auto ids = sink->define({{dense("/chunked", dims)}, {}});
        CHECK(sink->can().encoded_chunks == (ranks_encode || comm.size() == 1));
        std::vector<std::vector<Bytef>> kept;  // until complete()
        for (std::uint64_t k = 0; k < 16; ++k) {
            if (ranks_encode && k % static_cast<std::uint64_t>(comm.size()) !=
                                    static_cast<std::uint64_t>(comm.rank()))
                continue;
            const Box box{{k / 8, k % 8 * 2, 0, 0}, chunk};
            const auto data = fill(box, dims);
            std::vector<Bytef>& packed = kept.emplace_back(2000);
            uLongf length = packed.size();
            REQUIRE(compress2(packed.data(), &length, reinterpret_cast<const Bytef*>(data.data()),
                              data.size() * 4, 6) == Z_OK);
            const core::EncodedChunk one{
                ids[0], box.offset, 0,
                std::as_bytes(std::span(packed.data(), static_cast<std::size_t>(length)))};
            if (sink->can().encoded_chunks)
                sink->write_encoded({&one, 1});
            else
                TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call, sink->write_encoded({&one, 1}));
        }
        sink->complete(0);
        (void)sink->close(sink->can().encoded_chunks ? Outcome::publish : Outcome::discard);
        if (sink->can().encoded_chunks && comm.rank() == 0)
            CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
    }
    comm.barrier();
}

TAILRACE_MPI_TEST(
    "hdf5: a filter that one rank has not is refused on all, in writing and reading") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    auto options = chunked(dims, true);
    options.filters = {{OwnFilter::id, "same", {}}};
    const bool lacks_it = comm.rank() == comm.size() - 1;
    {
        const auto filter = lacks_it ? nullptr : std::make_unique<OwnFilter>();
        TAILRACE_CHECK_ALL_THROW(core::Code::unsupported,
                                 hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases));
        comm.barrier();
        CHECK(!std::filesystem::exists(folder + "/a.h5.part"));
    }
    {
        const OwnFilter filter;
        (void)write_steps(comm, folder + "/a.h5", options, dims, phases);
    }
    const auto filter = lacks_it ? nullptr : std::make_unique<OwnFilter>();
    auto source = hdf5::open_source(comm, folder + "/a.h5", options, phases);
    const Box box = my_part(comm, dims, 0);
    std::vector<float> data(static_cast<std::size_t>(box.volume()));
    core::Read piece{0, box, reinterpret_cast<std::byte*>(data.data()), Scalar::f32, {}};
    TAILRACE_CHECK_ALL_THROW(core::Code::unsupported,
                             source->read({&piece, box.empty() ? 0U : 1U}));
}

TAILRACE_MPI_TEST(2, "hdf5: options that differ between ranks are refused on all") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    auto options = chunked(dims, true);
    options.deflate = comm.rank() == 0 ? 0 : 3;
    TAILRACE_CHECK_ALL_THROW(core::Code::rank_mismatch,
                             hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases));
    options = chunked(dims, true);
    if (comm.rank() == 1) options.chunks.clear();
    TAILRACE_CHECK_ALL_THROW(core::Code::rank_mismatch,
                             hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases));
    options = chunked(dims, true);
    if (comm.rank() == 1) options.hints["tailrace_test"] = "1";
    CHECK_NOTHROW((void)hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases));
}
