// SPDX-License-Identifier: Apache-2.0
// Writes a file as a server of a model does, for test_history_files.py: some variables grow by
// records that come in any order, others do not; each is stored in its own way.
// history_writer FILE hdf5|netcdf4|cdf5|cdf1 [zstd|independent]
#include <cstdio>
#include <span>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/open.hpp"

using namespace tailrace;
using core::Extents;
using core::Scalar;

namespace {

constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double

formats::Options options_of(const std::string& format, bool collective, const std::string& more) {
    formats::Storage small{.chunks = {1, 2, 3}, .shuffle = true, .deflate = 1};
    const formats::Storage squeezed{.chunks = {2, 3}, .zstd = 3};
    const auto with = [&](auto options) {
        options.collective = collective;
        if (more != "independent") options.storage["/t"] = small;
        if (more == "zstd") options.storage["/count"] = squeezed;
        return options;
    };
    if (format == "hdf5") return with(formats::hdf5::Options{});
    if (format == "netcdf4") {
        small.quantize = formats::Quantize::bit_round;
        small.digits = 4;
        return with(formats::netcdf4::Options{});
    }
    formats::pnetcdf::Options options;
    options.collective = collective;
    options.cdf = format == "cdf1" ? 1 : 5;
    return options;
}

core::Schema schema_of(bool classic) {
    const core::Extent time{0, true}, y{4, false}, x{3, false};
    core::Schema schema;
    schema.objects = {
        {.path = "/time", .type = Scalar::f64, .dims = {time}, .axes = {"time"}},
        {.path = "/y", .type = Scalar::f64, .dims = {y}, .axes = {"y"}},
        {.path = "/t", .dims = {time, y, x}, .fill = {true, -9.0}, .axes = {"time", "y", "x"}},
        {.path = "/late",
         .type = Scalar::i16,
         .dims = {time, y},
         .fill = {true, std::int64_t{-1}},
         .axes = {"time", "y"}},
        {.path = "/count",
         .type = classic ? Scalar::i32 : Scalar::i64,
         .dims = {y, x},
         .fill = {true, classic ? 77 : odd},
         .axes = {"y", "x"}}};
    for (const char* object : {"/", "/t"})
        for (core::Attribute& one :
             std::vector<core::Attribute>{{object, "i8", std::int8_t{-128}},
                                          {object, "i16", std::int16_t{-32768}},
                                          {object, "f32", 0.1F},
                                          {object, "i8s", std::vector<std::int8_t>{-1, 127}},
                                          {object, "i16s", std::vector<std::int16_t>{-1, 32767}},
                                          {object, "f32s", std::vector<float>{0.1F, -2.5F, 3.0F}}})
            schema.attributes.push_back(std::move(one));
    return schema;
}

/// This rank's rows of one record (or of a variable without any), each element its `value`.
template <class Number>
void put(core::Sink& sink, const comm::Comm& comm, core::ObjectId id, core::Box box,
         std::size_t axis, Scalar type, Number value) {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const core::Box part = core::cut(box.count, axis, ranks, rank);
    for (std::size_t d = 0; d < box.count.size(); ++d) box.offset[d] += part.offset[d];
    box.count = part.count;
    const std::vector<Number> data(box.volume(), value);
    const core::Write piece{id, box, reinterpret_cast<const std::byte*>(data.data()), {}, type};
    sink.write({&piece, 1});
    sink.complete(0);
}

void write_file(const std::string& path, const std::string& format, const std::string& more) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    core::Phases phases;
    core::Target target;
    target.path = path;
    auto sink = formats::open_sink(
        comm, target, options_of(format, comm.size() > 1 && more != "independent", more), phases);
    const bool classic = format == "cdf1";
    const auto ids = sink->define(schema_of(classic));
    put(*sink, comm, ids[1], {{0}, {4}}, 0, Scalar::f64, 0.5);
    for (const std::uint64_t record : {0, 2, 1}) {
        const auto value = static_cast<float>(record + 1);
        put(*sink, comm, ids[2], {{record, 0, 0}, {1, 4, 3}}, 1, Scalar::f32, value);
        put(*sink, comm, ids[0], {{record}, {1}}, 0, Scalar::f64, double{value});
        sink->sync(core::Durability::flushed).wait();
    }
    put(*sink, comm, ids[3], {{1, 0}, {1, 4}}, 1, Scalar::i16, std::int16_t{5});
    const core::Box first{{0, 0}, {1, 3}};
    if (classic)
        put(*sink, comm, ids[4], first, 0, Scalar::i32, std::int32_t{1});
    else
        put(*sink, comm, ids[4], first, 0, Scalar::i64, odd + 1);
    auto closing = sink->post_close(core::Outcome::publish);
    (void)closing.wait();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    int status = 0;
    MPI_Init(&argc, &argv);
    try {
        write_file(argv[1], argv[2], argc > 3 ? argv[3] : "");
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
