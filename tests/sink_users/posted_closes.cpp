// SPDX-License-Identifier: Apache-2.0
// Seventh user: a history with several files in flight. Their closes are posted, and waited for
// later, in another order; whoever waits for a lost file learns of it, and nobody else.
#include <thread>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/open.hpp"
#include "formats/split/folder.hpp"
#include "hooks/posix/observer.hpp"
#include "mpi_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Outcome;
using Report = core::Pending<core::FileReport>;

namespace {

constexpr std::uint64_t width = 500;  // bytes of a rank

comm::Comm world() { return comm::from_mpi(MPI_COMM_WORLD); }

struct Output {
    std::string path;
    std::unique_ptr<core::Phases> phases = std::make_unique<core::Phases>();
    std::unique_ptr<core::Sink> sink{};
    std::vector<core::ObjectId> ids{};
};

std::vector<Output> opened(const std::string& folder) {
    const std::vector<std::pair<std::string, formats::Options>> formats{
        {"raw.posix", formats::posix::Options{}}, {"raw.mpi", formats::mpiio::Options{}},
        {"lost.h5", formats::hdf5::Options{}},    {"a.h5", formats::hdf5::Options{}},
        {"b.nc", formats::netcdf4::Options{}},    {"c.nc", formats::pnetcdf::Options{}}};
    std::vector<Output> outputs;
    for (const auto& [name, options] : formats) {
        Output output{folder + "/" + name};
        output.sink = formats::open_sink(world(), {output.path}, options, *output.phases);
        outputs.push_back(std::move(output));
    }
    Output plot{folder + "/plot"};
    plot.sink = formats::split::open_folder(world(), {plot.path}, {}, *plot.phases);
    outputs.push_back(std::move(plot));
    return outputs;
}

std::uint64_t all_bytes() { return width * static_cast<std::uint64_t>(size()); }

void write(Output& output, std::byte value) {
    core::Object object{.path = "/field", .type = core::Scalar::u8};
    object.dims = {{all_bytes()}};
    output.ids = output.sink->define({{object}, {}});
    const std::vector<std::byte> mine(width, value);
    const core::Write piece{.object = output.ids[0],
                            .place = {{width * static_cast<std::uint64_t>(rank())}, {width}},
                            .data = mine.data(),
                            .memory = {},
                            .type = core::Scalar::u8};
    output.sink->write({&piece, 1});
    output.sink->complete(0);
}

/// Posts the close of a file; a sink that writes at once may know by then that it is lost.
struct Closing {
    explicit Closing(core::Sink& sink)
        : refused(comm::Comm::caught([&] { report = sink.post_close(Outcome::publish); })) {}
    core::FileReport wait() {
        if (refused) throw core::Error(*refused);
        return report.wait();
    }
    Report report;
    std::optional<core::Error> refused;
};

}  // namespace

TEST_SUITE("sink_users.posted_closes") {
    TAILRACE_MPI_TEST("each report, and each error, reaches who waits for it") {
        const std::string folder = shared_folder();
        hooks::posix::install();
        std::vector<Output> outputs = opened(folder);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            write(outputs[i], static_cast<std::byte>(i + 1));
        hooks::posix::inject_faults("op=fsync,path=*lost*,errno=EIO");
        std::vector<Closing> closings;
        for (Output& output : outputs) closings.emplace_back(*output.sink);
        hooks::posix::inject_faults("");
        for (Output& output : outputs) output.sink.reset();
        for (std::size_t i = outputs.size(); i-- > 0;) {
            const std::string& path = outputs[i].path;
            CAPTURE(path);
            core::FileReport report;
            const auto failed = comm::Comm::caught([&] { report = closings[i].wait(); });
            const bool lost = path.ends_with("lost.h5");
            REQUIRE(failed.has_value() == lost);
            CHECK(std::filesystem::exists(path) != lost);
            if (lost) {
                CHECK(failed->where().find("lost.h5") != std::string::npos);
                continue;
            }
            CHECK(report.path == path);
            CHECK(report.bytes_logical == all_bytes());
            CHECK(report.durable);
            CHECK_THROWS_AS(closings[i].wait(), core::Error);
        }
        barrier();
    }

    TAILRACE_MPI_TEST(
        "a second thread is refused a file of several ranks, and gets one of its own") {
        const std::string folder = shared_folder();
        std::vector<Output> outputs = opened(folder);
        const comm::Comm others = world();
        std::optional<core::Error> together, alone;
        std::thread([&] {
            const auto open = [&](const comm::Comm& comm, const std::string& name) {
                core::Phases phases;
                (void)formats::open_sink(comm, {folder + name}, formats::hdf5::Options{}, phases);
            };
            together = comm::Comm::caught([&] { open(others, "/second.h5"); });
            alone = comm::Comm::caught(
                [&] { open(comm::Comm::self(), "/own" + std::to_string(rank()) + ".h5"); });
        }).join();
        CHECK_FALSE(alone);
        REQUIRE(together.has_value() == (size() > 1));
        if (together) {
            CHECK(together->code() == core::Code::wrong_call);
            CHECK(together->where().find("second.h5") != std::string::npos);
            CHECK(together->remedy().find("Comm::self()") != std::string::npos);
        }
        for (Output& output : outputs) output.sink->close(Outcome::discard);
        outputs.clear();
        std::thread([&] {  // now they are its own
            core::Phases phases;
            const auto sink = formats::open_sink(others, {folder + "/second.h5"},
                                                 formats::hdf5::Options{}, phases);
            sink->close(Outcome::discard);
        })
            .join();
        barrier();
    }
}
