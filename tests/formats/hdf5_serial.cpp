// SPDX-License-Identifier: Apache-2.0
// Format hdf5 in a program that never calls MPI_Init: one process, HDF5's serial driver.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/phases.hpp"
#include "formats/hdf5/open.hpp"
#include "hdf5_oracle.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

core::FileReport write_file(const std::string& path, bool precreate) {
    core::Phases phases;
    formats::hdf5::Options options;
    options.collective = true;
    options.collective_metadata = true;
    options.precreate = precreate;
    options.chunks["/d"] = {8};
    core::Target target;
    target.path = path;
    auto sink = formats::hdf5::open_sink(comm::Comm::self(), target, options, phases);
    core::Object object;
    object.path = "/d";
    object.dims = {{20, false}};
    const auto ids = sink->define({{object}, {{"/d", "units", std::string("m")}}});
    std::vector<float> data(20);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    const core::Write piece{ids[0],
                            {{0}, {20}},
                            reinterpret_cast<const std::byte*>(data.data()),
                            {},
                            core::Scalar::f32};
    sink->write({&piece, 1});
    sink->complete(0);
    sink->sync(core::Durability::durable).wait();
    return sink->close(core::Outcome::publish);
}

}  // namespace

TEST_CASE("hdf5 serial: written and read without MPI") {
    for (const bool precreate : {false, true}) {
        const std::string path = precreate ? "p.h5" : "a.h5";
        const auto report = write_file(path, precreate);
        CHECK(report.settings.at("driver") == "sec2");
        CHECK(report.mpi_io.empty());
        CHECK(report.data_collective == std::optional(false));
        CHECK(report.durable);
        const auto set = oracle::read(path, "/d");
        REQUIRE(set.values.size() == 20);
        for (std::size_t i = 0; i < 20; ++i) CHECK(set.values[i] == static_cast<double>(i));
        core::Phases phases;
        auto source = formats::hdf5::open_source(comm::Comm::self(), path, {}, phases);
        std::vector<float> data(3, -1);
        core::Read piece{
            0, {{7}, {3}}, reinterpret_cast<std::byte*>(data.data()), core::Scalar::f32};
        source->read({&piece, 1});
        CHECK(data == std::vector<float>{7, 8, 9});
    }
}

TEST_CASE("hdf5 serial: a full disk is an Error, and nothing is left") {
    for (const char* phase : {"define", "write", "flush", "close", "describe"}) {
        hooks::posix::inject_faults(std::string("op=write,path=*/f.h5.part,phase=") + phase +
                                    ",errno=ENOSPC");
        std::string text = "ok";
        try {
            (void)write_file("f.h5", false);
        } catch (const core::Error& error) {
            text = core::name(error.code());
        }
        hooks::posix::inject_faults("");
        INFO(phase);
        // The serial driver writes data when it likes: at the latest in the flush.
        if (text == "ok")
            CHECK((std::string(phase) == "define" || std::string(phase) == "write" ||
                   std::string(phase) == "close"));
        if (text != "ok") {
            CHECK(text == "no_space");
            CHECK(!std::filesystem::exists("f.h5"));
        }
        std::filesystem::remove("f.h5");
        CHECK(!std::filesystem::exists("f.h5.part"));
    }
}
