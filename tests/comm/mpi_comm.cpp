// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_comm.hpp"

#include "comm/channel.hpp"
#include "comm/threads.hpp"
#include "faces.hpp"
#include "mpi_test.hpp"

using namespace tailrace;

namespace {

comm::Comm world() { return comm::from_mpi(MPI_COMM_WORLD); }

}  // namespace

TAILRACE_MPI_TEST("mpi: rank and size are those of the launcher") {
    const comm::Comm all = world();
    CHECK(all.rank() == test::rank());
    CHECK(all.size() == test::size());
    CHECK(comm::native(all) != MPI_COMM_WORLD);
    CHECK(comm::native(comm::Comm::self()) == MPI_COMM_SELF);
    comm::run_threads(2, [](const comm::Comm& threads) {
        test::check_all_throw(threads, core::Code::unsupported,
                              [&] { static_cast<void>(comm::native(threads)); });
    });
}

TAILRACE_MPI_TEST(2, "mpi: a broadcast of more than 2^30 bytes arrives whole") {
    const comm::Comm all = world();
    // Two pieces and a rest: the seam at 2^30 is where an int count would break.
    std::vector<std::byte> data((std::size_t{1} << 30) + 12345);
    if (all.rank() == 0)
        for (std::size_t i = 0; i < data.size(); i += 4096)
            data[i] = static_cast<std::byte>((i >> 12) * 7 + 1);
    if (all.rank() == 0) data.back() = std::byte{99};
    all.broadcast(std::span(data), 0);
    bool right = data.back() == std::byte{99};
    for (std::size_t i = 0; i < data.size(); i += 4096)
        right = right && data[i] == static_cast<std::byte>((i >> 12) * 7 + 1);
    CHECK(right);
}

// Counts over 2^31 cannot be tried on a small machine; what is cut at a few bytes is cut alike.
TAILRACE_MPI_TEST("mpi: messages longer than the largest go in pieces, everywhere") {
    for (const std::size_t largest : {std::size_t{8}, std::size_t{24}, std::size_t{1000}}) {
        const comm::Comm all = comm::from_mpi(MPI_COMM_WORLD, largest);
        const auto n = static_cast<std::uint64_t>(all.size());
        const auto r = static_cast<std::uint64_t>(all.rank());
        for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 125U, 126U}) {
            std::vector<std::uint64_t> whole(count);
            std::vector<double> real(count);
            for (std::size_t i = 0; i < count; ++i) {
                whole[i] = i * 100 + r;
                real[i] = static_cast<double>(i * 100 + r);
            }
            all.reduce(whole, comm::Reduce::max);
            all.reduce(real, comm::Reduce::min);
            for (std::size_t i = 0; i < count; ++i) {
                CHECK(whole[i] == i * 100 + n - 1);
                CHECK(real[i] == static_cast<double>(i * 100));
            }
            std::string text = all.rank() == 0 ? std::string(count, 'q') + "end" : "";
            CHECK(all.broadcast(std::move(text)) == std::string(count, 'q') + "end");
            const auto texts =
                all.split(0, -all.rank())
                    .gather_text(std::string(count, static_cast<char>('a' + all.rank())));
            for (std::size_t t = 0; t < texts.size(); ++t)
                CHECK(texts[t] == std::string(count, static_cast<char>('a' + n - 1 - t)));
        }
    }
    TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call, comm::from_mpi(MPI_COMM_WORLD, 0));
    TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call,
                             comm::from_mpi(MPI_COMM_WORLD, std::size_t{1} << 31));
}

// The launcher tells where a rank ends otherwise than by its main program.
TAILRACE_MPI_TEST("mpi: a channel may outlive MPI") {
    static const std::unique_ptr<comm::Channel> left(new comm::Channel(world().channel()));
    CHECK(left->size() == test::size());
}

TAILRACE_MPI_TEST("mpi: errors of calls without a communicator of ours return, for a while") {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    {
        const comm::ErrorsReturn guard;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        CHECK(MPI_Type_contiguous(-1, MPI_BYTE, &type) != MPI_SUCCESS);  // ends the program without
    }
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    CHECK(before == after);
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&after);
}
