// SPDX-License-Identifier: Apache-2.0
// Several objects with one call: fewer calls below, the same contents.
#include "hdf5_support.hpp"
#include "hooks/posix/observer.hpp"

using namespace hdf5_test;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

constexpr std::uint64_t objects = 6;

struct Written {
    std::uint64_t calls = 0;  ///< of all ranks, while data was written
    bool collective = false;
};

/// Every rank has rows of each of the objects; the last rank has none of the odd ones.
Written write_all(const comm::Comm& comm, const std::string& path, hdf5::Options options) {
    core::Phases phases;
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const Extents dims{8 * ranks, 16};
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    Schema schema;
    for (std::uint64_t k = 0; k < objects; ++k)
        schema.objects.push_back(dense("/v" + std::to_string(k), dims));
    const auto ids = sink->define(schema);
    const Box box = core::cut(dims, 0, ranks, static_cast<std::uint64_t>(comm.rank()));
    const auto data = fill(box, dims);
    std::vector<Write> pieces;
    for (std::uint64_t k = 0; k < objects; ++k)
        if (k % 2 == 0 || comm.rank() + 1 < comm.size())
            pieces.push_back({ids[k], box, bytes(data), {}, Scalar::f32});
    sink->write(pieces);
    sink->complete(0);
    const auto report = sink->close(Outcome::publish);
    Written outcome;
    for (const auto& writer : report.writers)
        if (const auto found = writer.by_phase.find("write"); found != writer.by_phase.end()) {
            outcome.calls += found->second.write.calls;
        }
    outcome.collective = report.data_collective.value_or(false);
    return outcome;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: pieces of several objects with one call") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool collective : {true, false}) {
        hdf5::Options options;
        options.collective = collective;
        const auto single = write_all(comm, folder + "/one.h5", options);
        options.multi_dataset = true;
        const auto multi = write_all(comm, folder + "/all.h5", options);
        if (comm.rank() == 0) {
            INFO("collective: " << collective << ", calls " << single.calls << ", multi "
                                << multi.calls);
            CHECK(multi.calls <= single.calls);
            // Between ranks one collective call is shared out anew; those of a rank are its own.
            if (collective && comm.size() > 1) CHECK(multi.calls < single.calls);
            for (std::uint64_t k = 0; k < objects; ++k) {
                const auto all = oracle::read(folder + "/all.h5", "/v" + std::to_string(k));
                CHECK(all.found);
                const std::uint64_t rows =
                    8 * static_cast<std::uint64_t>(comm.size() - (k % 2 == 0 ? 0 : 1));
                for (std::uint64_t i = 0; i < rows * 16; ++i)
                    CHECK(all.values.at(i) == static_cast<double>(value_at(i)));
            }
        }
        comm.barrier();
    }
}
