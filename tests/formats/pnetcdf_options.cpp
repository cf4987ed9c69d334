// SPDX-License-Identifier: Apache-2.0
// Options of pnetcdf by their effect on the file and in counted calls; errors on all ranks.
#include <doctest/doctest.h>

#include <cstdlib>

#include "hooks/posix/observer.hpp"
#include "pnetcdf_support.hpp"

using namespace pnetcdf_test;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

std::uint64_t number(const core::FileReport& report, const std::string& key) {
    return std::stoull(report.settings.at(key));
}

/// Write calls of all ranks in phase "write"; on all ranks.
std::uint64_t calls_in_write(const core::FileReport& report) {
    std::uint64_t calls = 0;
    for (const core::WriterReport& writer : report.writers)
        if (const auto found = writer.by_phase.find("write"); found != writer.by_phase.end())
            calls += found->second.write.calls;
    return world().broadcast_value(calls);
}

/// `number` objects of so many rows of 64 floats, each rank its rows of each.
core::FileReport write_objects(const std::string& path, const pnetcdf::Options& options,
                               std::uint64_t number, std::uint64_t steps = 1) {
    core::Phases phases;
    auto sink = open(path, options, phases);
    const Extents dims{static_cast<std::uint64_t>(size()) * 4, 64};
    Schema schema;
    for (std::uint64_t n = 0; n < number; ++n)
        schema.objects.push_back(dense("/v" + std::to_string(n), Scalar::f32, dims));
    sink->define(schema);
    for (std::uint64_t step = 0; step < steps; ++step) {
        std::vector<Piece> pieces;
        for (std::uint64_t n = 0; n < number; ++n)
            pieces.emplace_back(static_cast<core::ObjectId>(n), schema.objects[n], my_rows(dims),
                                Scalar::f32, n);
        for (const Piece& piece : pieces) {
            Write write = piece.write;
            write.data = piece.memory.data();
            sink->write({&write, 1});
        }
        sink->complete(step);
    }
    return sink->close(Outcome::publish);
}

bool on_ompio() {
    const char* component = std::getenv("OMPI_MCA_io");
    return comm::library_version().starts_with("Open MPI") &&
           (component == nullptr || std::string(component) == "ompio");
}

std::unique_ptr<core::Sink> one_object(const std::string& path, const pnetcdf::Options& options,
                                       core::Phases& phases, Scalar type = Scalar::f32) {
    auto sink = open(path, options, phases);
    Schema schema;
    schema.objects = {dense("/d", type, {static_cast<std::uint64_t>(size()) * 2})};
    sink->define(schema);
    return sink;
}

}  // namespace

TEST_SUITE("pnetcdf_options") {
    TAILRACE_MPI_TEST("alignment: of variables, of the header's end, of records, room behind it") {
        pnetcdf::Options options;
        options.alignment_bytes = 4096;
        options.header_alignment_bytes = 1536;
        options.record_alignment_bytes = 65536;
        options.header_reserve_bytes = 20000;
        const std::string path = shared_folder() + "/a.nc";
        core::Phases phases;
        auto sink = open(path, options, phases);
        Object record = dense("/r", Scalar::f32, {0, 3});
        record.dims[0].unlimited = true;
        Schema schema;
        schema.objects = {dense("/a", Scalar::i8, {5}), dense("/b", Scalar::i8, {5}), record};
        sink->define(schema);
        const auto report = sink->close(Outcome::publish);
        const cdf::File file = cdf::read(path);
        const std::uint64_t a = file.variables.at("a").begin, b = file.variables.at("b").begin;
        CHECK(a % 4096 == 0);
        CHECK(a >= file.header_bytes + 20000);
        CHECK(b == a + 4096);
        CHECK(file.variables.at("r").begin == 65536);
        CHECK(report.hints_in_force.at("nc_var_align_size") == "4096");
        CHECK(report.hints_in_force.at("nc_header_align_size") == "1536");
        CHECK(report.hints_in_force.at("nc_record_align_size") == "65536");
        CHECK(number(report, "header_bytes") == file.header_bytes);
        CHECK(number(report, "header_extent_bytes") == a);
        CHECK(number(report, "/a offset_bytes") == a);
        CHECK(number(report, "/b offset_bytes") == b);
    }

    TAILRACE_MPI_TEST("the end of the header alone; without any of them") {
        for (const std::uint64_t align : {std::uint64_t{0}, std::uint64_t{1536}}) {
            pnetcdf::Options options;
            options.header_alignment_bytes = align;
            const std::string path = shared_folder() + "/a.nc";
            write_objects(path, options, 3);
            const cdf::File file = cdf::read(path);
            const std::uint64_t first = file.variables.at("v0").begin;
            CHECK(first % (align == 0 ? 512 : align) == 0);  // 512 is PnetCDF's default
            CHECK(first < file.header_bytes + (align == 0 ? 512 : align));
            CHECK(file.variables.at("v1").begin == first + size() * 4U * 64 * 4);
        }
    }

    TAILRACE_MPI_TEST("aggregated: one call for all objects of a step, counted") {
        for (const bool collective : {true, false}) {
            pnetcdf::Options options;
            options.collective = collective;
            CAPTURE(collective);
            const std::string folder = shared_folder();
            const auto blocking = write_objects(folder + "/b.nc", options, 8, 2);
            options.put = pnetcdf::Put::aggregated;
            const auto aggregated = write_objects(folder + "/a.nc", options, 8, 2);
            options.put = pnetcdf::Put::buffered;
            const auto buffered = write_objects(folder + "/f.nc", options, 8, 2);
            CHECK(number(blocking, "most_waits_of_a_rank") == 0);
            CHECK(number(blocking, "most_calls_of_a_rank") == 16);
            CHECK(number(aggregated, "most_waits_of_a_rank") == 2);
            CHECK(number(buffered, "most_waits_of_a_rank") == 2);
            CHECK(buffered.data_mode.find("ncmpi_bput_vara") != std::string::npos);
            // Below the library: a blocking call per object and step reaches the file at least
            // once; collectively, what all ranks posted is one run in the file.
            const std::uint64_t one_by_one = calls_in_write(blocking);
            CHECK(one_by_one >= 16);
            if (collective) {
                CAPTURE(calls_in_write(aggregated));
                CHECK(calls_in_write(aggregated) * 4 <= one_by_one);
                CHECK(calls_in_write(buffered) * 4 <= one_by_one);
            }
            for (const char* name : {"/b.nc", "/a.nc", "/f.nc"})
                on_rank_0([&] {
                    const cdf::File file = cdf::read(folder + name);
                    for (std::uint64_t n = 0; n < 8; ++n) {
                        const Extents dims{static_cast<std::uint64_t>(size()) * 4, 64};
                        CHECK(wrong_values(file.variables.at("v" + std::to_string(n)),
                                           dense("/v", Scalar::f32, dims), n) == 0);
                    }
                });
        }
    }

    TAILRACE_MPI_TEST("collective or not, and who wrote, as it was counted") {
        for (const bool collective : {true, false}) {
            pnetcdf::Options options;
            options.collective = collective;
            const auto report = write_objects(shared_folder() + "/a.nc", options, 1);
            if (!collective) {
                CHECK(report.data_collective == false);
                CHECK(report.no_collective_cause == "not asked for");
            }
            CHECK(report.data_mode.starts_with(collective ? "ncmpi_put_vara_all"
                                                          : "ncmpi_put_vara,"));
            CHECK(report.data_mode.find("ranks wrote") != std::string::npos);
            if (rank() != 0) continue;
            CHECK(report.writers_measured);
            std::uint64_t bytes = 0;
            for (const core::WriterReport& writer : report.writers)
                if (const auto found = writer.by_phase.find("write");
                    found != writer.by_phase.end())
                    bytes += found->second.write.bytes_done;
            CHECK(bytes == size() * 4U * 64 * 4);
        }
    }

    TAILRACE_MPI_TEST("the part that was made is the file: its striping and space stay") {
        const std::string path = shared_folder() + "/a.nc";
        core::Phases phases;
        core::Target target = target_of(path, core::Publish::atomic_rename, 1 << 20);
        ino_t made = 0;
        target.create = [&](const fs::path& part) {
            std::ofstream(part) << "";
            struct stat info {};
            REQUIRE(::stat(part.c_str(), &info) == 0);
            made = info.st_ino;
        };
        auto sink = pnetcdf::open_sink(world(), target, {}, phases);
        Schema schema;
        schema.objects = {dense("/d", Scalar::f32, {8})};
        sink->define(schema);
        const auto report = sink->close(Outcome::publish);
        if (rank() == 0) {
            struct stat info {};
            REQUIRE(::stat(path.c_str(), &info) == 0);
            CHECK(info.st_ino == made);
        }
        CAPTURE(report.reservation);
        CHECK(report.reservation.find("nothing") == std::string::npos);
    }

    TAILRACE_MPI_TEST("a colon in the name, a hint, attributes") {
        std::string path = shared_folder() + "/a:b.nc";
        pnetcdf::Options options;
        options.hints["cb_buffer_size"] = "1048576";
        core::Phases phases;
        if (on_ompio()) {
            TAILRACE_CHECK_ALL_THROW(Code::unsupported, open(path, options, phases));
            CHECK(left_in(fs::path(path).parent_path().string()).empty());
            path = shared_folder() + "/a.nc";
        }
        auto sink = open(path, options, phases);
        Schema schema;
        schema.objects = {dense("/d", Scalar::f32, {static_cast<std::uint64_t>(size())})};
        schema.attributes = {
            {"/", "texts", core::AttributeArray(std::vector<std::string>{"one", "two"})},
            {"/", "small", core::AttributeArray(std::vector<std::int32_t>{1, -2})},
            {"/", "wide", core::AttributeScalar(std::uint64_t{1} << 40)},
            {"/", "compound", core::Compound{"/t", 8, {{"m", 0, core::AttributeScalar(1.0)}}}},
            {"/d", "units", core::AttributeScalar(std::string("m/s"))}};
        sink->define(schema);
        const std::vector<Piece> pieces{
            {0, schema.objects[0], my_rows({static_cast<std::uint64_t>(size())}), Scalar::f32, 0}};
        sink->write(writes_of(pieces));
        sink->complete(0);
        const auto report = sink->close(Outcome::publish);
        CHECK(report.hints_in_force.at("cb_buffer_size") == "1048576");
        const cdf::File file = cdf::read(path);
        CHECK(file.attributes.at("texts") == "one\ntwo");
        CHECK(file.attributes.at("small") == std::string("\0\0\0\1\xff\xff\xff\xfe", 8));
        CHECK(file.attributes.at("wide") == std::string("\0\0\1\0\0\0\0\0", 8));
        CHECK(!file.attributes.contains("compound"));
        CHECK(file.variables.at("d").attributes.at("units") == "m/s");
        CHECK(wrong_values(file.variables.at("d"), schema.objects[0], 0) == 0);
        auto source = pnetcdf::open_source(world(), path, options, phases);
        CHECK(source->schema().objects.size() == 1);
    }

    TAILRACE_MPI_TEST("values that do not fit are an error of all ranks, and nothing is left") {
        for (const Way& way : ways()) {
            CAPTURE(way.name);
            const std::string folder = shared_folder();
            core::Phases phases;
            auto sink = one_object(folder + "/a.nc", way.options, phases, Scalar::i16);
            const std::vector<float> data{1.0F, rank() == size() - 1 ? 1e9F : 2.0F};
            const std::vector<Write> pieces{
                piece(0, Box{{static_cast<std::uint64_t>(rank()) * 2}, {2}}, data, Scalar::f32)};
            sink->write(pieces);
            TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->complete(0));
            TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->close(Outcome::publish));
            sink->close(Outcome::discard);
            CHECK(left_in(folder).empty());
        }
    }

    TAILRACE_MPI_TEST("an invalid call on one rank is heard on all, and leaves the file good") {
        for (const Way& way : ways()) {
            CAPTURE(way.name);
            const std::string path = shared_folder() + "/a.nc";
            core::Phases phases;
            auto sink = one_object(path, way.options, phases);
            const auto rows = static_cast<std::uint64_t>(size()) * 2;
            const std::vector<float> data{1, 2};
            std::vector<Write> wrong{piece(0, Box{{rows - 1}, {2}}, data, Scalar::f32)};
            if (rank() != 0) wrong.clear();
            TAILRACE_CHECK_ALL_THROW_NAMING(Code::bad_input, path, sink->write(wrong));
            if (rank() == 0) wrong = {piece(3, Box{{0}, {2}}, data, Scalar::f32)};
            TAILRACE_CHECK_ALL_THROW_NAMING(Code::wrong_call, path, sink->write(wrong));
            Schema schema;
            schema.objects = {dense("/group/d", Scalar::f32, {1})};
            TAILRACE_CHECK_ALL_THROW_NAMING(Code::unsupported, path, sink->define(schema));
            schema.objects = {dense("/other", Scalar::f32, {rank() == 0 ? 1U : 2U})};
            if (size() > 1)
                TAILRACE_CHECK_ALL_THROW_NAMING(Code::rank_mismatch, path, sink->define(schema));
            const std::vector<Piece> pieces{
                {0, dense("/d", Scalar::f32, {rows}), my_rows({rows}), Scalar::f32, 0}};
            sink->write(writes_of(pieces));
            sink->complete(0);
            sink->close(Outcome::publish);
            CHECK(wrong_values(cdf::read(path).variables.at("d"), dense("/d", Scalar::f32, {rows}),
                               0) == 0);
        }
    }

    TAILRACE_MPI_TEST("what cannot be opened") {
        const std::string folder = shared_folder();
        core::Phases phases;
        pnetcdf::Options options;
        if (size() > 1) {
            options.cdf = rank() == 0 ? 5 : 2;
            TAILRACE_CHECK_ALL_THROW(Code::rank_mismatch, open(folder + "/a.nc", options, phases));
            options.cdf = 5;
        }
        core::Target target = target_of(folder + "/a.nc");
        target.existing = core::Existing::append;
        TAILRACE_CHECK_ALL_THROW(Code::unsupported,
                                 pnetcdf::open_sink(world(), target, options, phases));
        options.burst_buffer = "/tmp";
        try {
            pnetcdf::check(options);
        } catch (const core::Error& refused) {
            CHECK(core::exit_code(refused.code()) == 4);
            CHECK(refused.remedy().find("--enable-burst-buffering") != std::string::npos);
            TAILRACE_CHECK_ALL_THROW(Code::unsupported, open(folder + "/a.nc", options, phases));
        }
        CHECK(left_in(folder).empty());
        put(folder + "/text", "no netCDF at all");
        TAILRACE_CHECK_ALL_THROW(Code::bad_input,
                                 pnetcdf::open_source(world(), folder + "/text", {}, phases));
        auto sink = open(folder + "/b.nc", {}, phases);
        TAILRACE_CHECK_ALL_THROW(Code::wrong_call, sink->close(Outcome::publish));
        sink->close(Outcome::discard);
        CHECK(left_in(folder) == Names{"text"});
    }

    TAILRACE_MPI_TEST("a sink that is dropped in the middle of a step leaves nothing") {
        for (const Way& way : ways()) {
            CAPTURE(way.name);
            const std::string folder = shared_folder();
            core::Phases phases;
            {
                auto sink = one_object(folder + "/a.nc", way.options, phases);
                const auto rows = static_cast<std::uint64_t>(size()) * 2;
                const std::vector<Piece> pieces{
                    {0, dense("/d", Scalar::f32, {rows}), my_rows({rows}), Scalar::f32, 0}};
                sink->write(writes_of(pieces));
            }
            CHECK(left_in(folder).empty());
        }
    }
}
