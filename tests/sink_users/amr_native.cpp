// SPDX-License-Identifier: Apache-2.0
// Second user: a native AMR layout. Byte objects whose sizes are planned from the boxes, and a
// header whose text is known only after the data: define() is called again for it.
#include <fstream>
#include <iterator>
#include <numeric>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/split/folder.hpp"
#include "mpi_test.hpp"

using namespace tailrace;
using namespace tailrace::test;

namespace {

struct Fab {
    std::string head;
    std::vector<double> cells;
    [[nodiscard]] std::uint64_t bytes() const {
        return head.size() + cells.size() * sizeof(double);
    }
};

core::Write piece(core::ObjectId object, std::uint64_t at, const void* data, std::uint64_t bytes) {
    return {.object = object,
            .place = {{at}, {bytes}},
            .data = static_cast<const std::byte*>(data),
            .memory = {},
            .type = core::Scalar::u8};
}

core::Object bytes_object(const std::string& path, std::uint64_t bytes) {
    core::Object object{.path = path, .type = core::Scalar::u8};
    object.dims = {{bytes}};
    object.kind = core::Kind::bytes;
    return object;
}

void plotfile(core::Sink& sink, const std::vector<Fab>& fabs) {
    const std::uint64_t total =
        std::accumulate(fabs.begin(), fabs.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Fab& fab) { return sum + fab.bytes(); });
    const auto data = sink.define({{bytes_object("/Level_0/Cell_D_00000", total)}, {}});
    std::vector<core::Write> pieces;
    std::string index;
    std::uint64_t at = 0;
    for (std::size_t f = 0; f < fabs.size(); ++f) {
        const Fab& fab = fabs[f];
        index += "FabOnDisk: Cell_D_00000 " + std::to_string(at) + "\n";
        if (f % static_cast<std::size_t>(size()) == static_cast<std::size_t>(rank())) {
            pieces.push_back(piece(data[0], at, fab.head.data(), fab.head.size()));
            pieces.push_back(piece(data[0], at + fab.head.size(), fab.cells.data(),
                                   fab.cells.size() * sizeof(double)));
        }
        at += fab.bytes();
    }
    sink.write(pieces);
    sink.complete(0);
    const auto header = sink.define({{bytes_object("/Level_0/Cell_H", index.size())}, {}});
    const core::Write text = piece(header[0], 0, index.data(), index.size());
    sink.write({&text, rank() == 0 ? 1U : 0U});
    sink.complete(1);
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_SUITE("sink_users.amr_native") {
    TAILRACE_MPI_TEST("fabs lie where the index says") {
        const std::string folder = shared_folder() + "/plt00000";
        const std::vector<Fab> fabs{{"FAB a\n", {1, 2, 3}}, {"FAB bb\n", {4, 5}}, {"FAB c\n", {}}};
        core::Phases phases;
        const auto sink =
            formats::split::open_folder(comm::from_mpi(MPI_COMM_WORLD), {folder}, {}, phases);
        plotfile(*sink, fabs);
        CHECK(sink->close(core::Outcome::publish).parts.size() == 2);
        std::string expected;
        for (const Fab& fab : fabs)
            expected += fab.head + std::string(reinterpret_cast<const char*>(fab.cells.data()),
                                               fab.cells.size() * sizeof(double));
        CHECK(bytes_of(folder + "/Level_0/Cell_D_00000") == expected);
        CHECK(bytes_of(folder + "/Level_0/Cell_H") ==
              "FabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00000 30\n"
              "FabOnDisk: Cell_D_00000 53\n");
        barrier();
    }
}
