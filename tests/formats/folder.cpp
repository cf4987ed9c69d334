// SPDX-License-Identifier: Apache-2.0
// A folder of files as one Sink: every byte where it belongs, the folder there as a whole or not.
#include <fstream>

#include "core/cleanup.hpp"
#include "formats/split/folder.hpp"
#include "formats/split/per_process.hpp"
#include "formats_test.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using core::Outcome;
using core::Scalar;

namespace {

constexpr std::uint64_t per_rank = 3000;
const formats::split::FolderOptions options{.known_by = "Header", .manifest = "files.json"};

std::byte value(std::uint64_t file, std::uint64_t at) {
    return static_cast<std::byte>((file * 131 + at * 7 + at / 251) % 256);
}

/// A sink with `files` files of which each rank has a part of each, and the parts of this rank.
struct Writing {
    Writing(const std::string& path, std::uint64_t files,
            core::Existing existing = core::Existing::replace) {
        core::Target target{path};
        target.existing = existing;
        target.reserve_bytes = files * per_rank * static_cast<std::uint64_t>(size());
        sink = formats::split::open_folder(world(), target, options, phases);
        core::Schema schema;
        for (std::uint64_t f = 0; f < files; ++f)
            schema.objects.push_back(
                dense("/Level_" + std::to_string(f % 2) + "/Cell_D_" + std::to_string(f),
                      Scalar::u8, {per_rank * static_cast<std::uint64_t>(size())}));
        const auto ids = sink->define(schema);
        const std::uint64_t first = per_rank * static_cast<std::uint64_t>(rank());
        memory.resize(files);
        for (std::uint64_t f = 0; f < files; ++f) {
            for (std::uint64_t k = 0; k < per_rank; ++k) memory[f].push_back(value(f, first + k));
            pieces.push_back({.object = ids[f],
                              .place = {{first}, {per_rank}},
                              .data = memory[f].data(),
                              .memory = {},
                              .type = Scalar::u8});
        }
    }
    /// The text is known only after the data.
    void write_header(const std::string& text) {
        const auto ids = sink->define(schema_of(dense("/Header", Scalar::u8, {text.size()})));
        const core::Write header{.object = ids[0],
                                 .place = {{0}, {rank() == 0 ? text.size() : 0}},
                                 .data = reinterpret_cast<const std::byte*>(text.data()),
                                 .memory = {},
                                 .type = Scalar::u8};
        sink->write({&header, 1});
        sink->complete(1);
    }

    core::Phases phases;
    std::unique_ptr<core::Sink> sink;
    std::vector<std::vector<std::byte>> memory;
    std::vector<core::Write> pieces;
};

std::uint64_t wrong_bytes(const std::string& path, std::uint64_t files) {
    std::uint64_t wrong = 0;
    for (std::uint64_t f = 0; f < files; ++f) {
        const std::string bytes =
            slurp(path + "/Level_" + std::to_string(f % 2) + "/Cell_D_" + std::to_string(f));
        if (bytes.size() != per_rank * static_cast<std::uint64_t>(size())) return 1;
        for (std::uint64_t k = 0; k < bytes.size(); ++k)
            wrong += static_cast<std::byte>(bytes[k]) != value(f, k);
    }
    return wrong;
}

void write_all(const std::string& path, std::uint64_t files, const std::string& header) {
    Writing writing(path, files);
    writing.sink->write(writing.pieces);
    writing.sink->complete(0);
    writing.write_header(header);
    core::Pending<core::FileReport> posted = writing.sink->post_close(Outcome::publish);
    writing.sink.reset();  // the report outlives the Sink
    const core::FileReport report = posted.wait();
    CHECK(report.parts.size() == files + 1);
    CHECK(report.durable);
    CHECK(report.bytes_logical ==
          files * per_rank * static_cast<std::uint64_t>(size()) + header.size());
    CHECK(report.bytes_stored == report.bytes_logical);
    CHECK_THROWS_AS(posted.wait(), core::Error);
}

/// A part of a file, and the memory for it.
core::Read part(core::ObjectId file, std::uint64_t first, std::vector<std::byte>& memory) {
    return {.object = file,
            .place = {{first}, {memory.size()}},
            .data = memory.data(),
            .type = Scalar::u8,
            .memory = {}};
}

std::size_t entries(const std::string& folder) {
    std::size_t names = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++names;
    return names;
}

}  // namespace

TEST_SUITE("folder") {
    TAILRACE_MPI_TEST("files of a folder hold what all ranks wrote, and the folder is replaced") {
        const std::string folder = shared_folder();
        const std::string path = folder + "/plt00000";
        write_all(path, 5, "first");
        write_all(path + "/", 3, "second");  // a slash at the end is the same folder
        barrier();
        if (rank() == 0) {
            CHECK(wrong_bytes(path, 3) == 0);
            CHECK(slurp(path + "/Header") == "second");
            CHECK_FALSE(fs::exists(path + "/Level_1/Cell_D_3"));
            CHECK(slurp(path + "/files.json").find("Level_1/Cell_D_1") != std::string::npos);
            CHECK(entries(folder) == 1);
        }
        barrier();
    }

    TAILRACE_MPI_TEST("more files than are kept open") {
        const std::string folder = shared_folder();
        write_all(folder + "/many", 300, "x");
        barrier();
        if (rank() == 0) CHECK(wrong_bytes(folder + "/many", 300) == 0);
        barrier();
    }

    TAILRACE_MPI_TEST("a folder of somebody else is not replaced, nor any with refuse") {
        const std::string folder = shared_folder();
        const std::string path = folder + "/mine";
        if (rank() == 0) {
            fs::create_directory(path);
            std::ofstream(path + "/thesis.tex") << "years";
        }
        barrier();
        TAILRACE_CHECK_ALL_THROW(Code::already_exists, Writing(path, 1));
        TAILRACE_CHECK_ALL_THROW(Code::already_exists, Writing(path, 1, core::Existing::refuse));
        TAILRACE_CHECK_ALL_THROW(Code::unsupported, Writing(path, 1, core::Existing::append));
        barrier();
        if (rank() == 0) {
            CHECK(slurp(path + "/thesis.tex") == "years");
            CHECK(entries(folder) == 1);
        }
        barrier();
    }

    TAILRACE_MPI_TEST("a folder of somebody else that appears during the run is not replaced") {
        const std::string folder = shared_folder();
        Writing writing(folder + "/mine", 1);
        writing.sink->write(writing.pieces);
        writing.sink->complete(0);
        if (rank() == 0) {
            fs::create_directory(folder + "/mine");
            std::ofstream(folder + "/mine/thesis.tex") << "years";
        }
        barrier();
        TAILRACE_CHECK_ALL_THROW(Code::already_exists, writing.sink->close(Outcome::publish));
        writing.sink->close(Outcome::discard);
        barrier();
        if (rank() == 0) {
            CHECK(slurp(folder + "/mine/thesis.tex") == "years");
            CHECK(entries(folder) == 1);
        }
        barrier();
    }

    TAILRACE_MPI_TEST("a folder that a killed run has moved away gets its name back") {
        const std::string folder = shared_folder();
        const std::string path = folder + "/plt";
        write_all(path, 2, "older");
        barrier();
        if (rank() == 0) {  // as on a file system that cannot exchange names
            fs::rename(path, path + ".part.old");
            fs::create_directory(path + ".part");
            std::ofstream(path + ".part.lock") << "process 1 on nowhere\n";
        }
        barrier();
        { Writing given_up(path, 1); }
        barrier();
        if (rank() == 0) {
            CHECK(wrong_bytes(path, 2) == 0);
            CHECK(entries(folder) == 1);
        }
        barrier();
    }

    TAILRACE_MPI_TEST("files of their own: a piece that one rank could not write ends them all") {
        const std::string folder = shared_folder();
        const auto ranks = static_cast<std::uint64_t>(size());
        const float value = 1;
        for (const bool complete : {true, false}) {
            core::Phases phases;
            const auto sink = formats::split::open_sink_per_process(
                world(), {folder + "/own"}, formats::posix::Options{}, phases);
            const auto ids = sink->define(schema_of(dense("/a", Scalar::f32, {ranks})));
            const core::Write elsewhere{.object = ids[0],
                                        .place = {{rank() == size() - 1 ? ranks : 0}, {1}},
                                        .data = reinterpret_cast<const std::byte*>(&value),
                                        .memory = {},
                                        .type = Scalar::f32};
            sink->write({&elsewhere, rank() == size() - 1 ? 1U : 0U});
            if (complete) TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->complete(0));
            TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->close(Outcome::publish));
            sink->close(Outcome::discard);
            barrier();
            if (rank() == 0) CHECK(entries(folder) == 0);
            barrier();
        }
    }

    TAILRACE_MPI_TEST("files of their own: a failure on one rank leaves the older ones of all") {
        const std::string folder = shared_folder();
        const auto ranks = static_cast<std::uint64_t>(size());
        for (const float value : {1.F, 2.F}) {
            core::Phases phases;
            const auto sink = formats::split::open_sink_per_process(
                world(), {folder + "/own"}, formats::posix::Options{}, phases);
            const auto ids = sink->define(schema_of(dense("/a", Scalar::f32, {ranks})));
            const core::Write mine{.object = ids[0],
                                   .place = {{static_cast<std::uint64_t>(rank())}, {1}},
                                   .data = reinterpret_cast<const std::byte*>(&value),
                                   .memory = {},
                                   .type = Scalar::f32};
            sink->write({&mine, 1});
            sink->complete(0);
            hooks::posix::install();
            if (value == 2 && rank() == size() - 1)
                hooks::posix::inject_faults("op=fsync,path=*_own*,errno=EIO");
            const auto failed = comm::Comm::caught([&] { sink->close(Outcome::publish); });
            hooks::posix::inject_faults("");
            REQUIRE(failed.has_value() == (value == 2));
            if (failed) sink->close(Outcome::discard);
        }
        core::Phases phases;
        const auto source = formats::split::open_source_per_process(
            world(), folder + "/own", formats::posix::Options{}, phases);
        (void)source->schema();
        std::vector<float> all(ranks);
        core::Read read{
            .object = 0, .place = {{0}, {ranks}}, .data = reinterpret_cast<std::byte*>(all.data())};
        source->read({&read, 1});
        CHECK(all == std::vector<float>(ranks, 1));
        barrier();
        if (rank() == 0) CHECK(entries(folder) == ranks);
        barrier();
    }

    TAILRACE_MPI_TEST("a failure on one rank leaves the older folder and nothing else") {
        const std::string folder = shared_folder();
        const std::string path = folder + "/plt";
        write_all(path, 2, "older");
        for (const std::string rule : {"op=write,phase=write,path=*Cell_D_1,errno=ENOSPC",
                                       "op=fsync,path=*Cell_D_0,errno=EIO"}) {
            CAPTURE(rule);
            hooks::posix::install();
            if (rank() == size() - 1) hooks::posix::inject_faults(rule);
            Writing writing(path, 2);
            writing.sink->write(writing.pieces);
            const auto failed = comm::Comm::caught([&] {
                writing.sink->complete(0);
                writing.sink->close(Outcome::publish);
            });
            hooks::posix::inject_faults("");
            REQUIRE(failed);
            CHECK(failed->where().find("/plt") != std::string::npos);
            writing.sink->close(Outcome::discard);
            barrier();
            if (rank() == 0) {
                CHECK(wrong_bytes(path, 2) == 0);
                CHECK(slurp(path + "/Header") == "older");
                CHECK(entries(folder) == 1);
            }
            barrier();
        }
    }

    TAILRACE_MPI_TEST("an interrupt removes the part with all that is in it") {
        const std::string folder = shared_folder();
        Writing writing(folder + "/plt", 4);
        writing.sink->write(writing.pieces);
        writing.sink->complete(0);
        barrier();
        if (rank() == 0) {
            core::remove_unfinished_files();
            CHECK(entries(folder) == 0);
        }
        barrier();
        writing.sink->close(Outcome::discard);
    }

    TAILRACE_MPI_TEST("names that lead elsewhere, attributes and numbers are refused") {
        const std::string folder = shared_folder();
        core::Phases phases;
        const auto sink = formats::split::open_folder(world(), {folder + "/plt"}, {}, phases);
        for (const char* name : {"/../escape", "/a/./b", "/", "/a/"})
            TAILRACE_CHECK_ALL_THROW(Code::bad_input,
                                     sink->define(schema_of(dense(name, Scalar::u8, {1}))));
        core::Schema both;
        both.objects = {dense("/a", Scalar::u8, {1}), dense("/a/b", Scalar::u8, {1})};
        TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->define(both));
        both.objects = {dense("/a/b", Scalar::u8, {1}), dense("/a//b", Scalar::u8, {1})};
        TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->define(both));
        TAILRACE_CHECK_ALL_THROW(Code::unsupported,
                                 sink->define(schema_of(dense("/n", Scalar::f64, {1}))));
        core::Schema about;
        about.attributes.push_back({"/", "title", core::AttributeScalar(std::uint64_t{1})});
        TAILRACE_CHECK_ALL_THROW(Code::unsupported, sink->define(about));
        sink->close(Outcome::discard);
        barrier();
        if (rank() == 0) CHECK(entries(folder) == 0);
        barrier();
    }

    TAILRACE_MPI_TEST("a folder is read: any parts of more files than are kept open, by any rank") {
        const std::string path = shared_folder() + "/many";
        write_all(path, 300, "the header");
        barrier();
        core::Phases phases;
        const auto source = formats::split::open_folder_source(world(), path, phases);
        const core::Schema schema = source->schema();
        REQUIRE(schema.objects.size() == 302);  // with the header and the manifest
        std::vector<std::vector<std::byte>> memory;
        std::vector<core::Read> pieces;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> whence;
        memory.reserve(2 * 300);
        for (std::size_t step = 0; step < 2 * schema.objects.size(); ++step) {
            const std::size_t object = step * 7 % schema.objects.size();  // back and forth
            const std::string& name = schema.objects[object].path;
            if (name.find("Cell_D_") == std::string::npos) continue;
            const std::uint64_t file = std::stoull(name.substr(name.rfind('_') + 1));
            const std::uint64_t first = (file * 37 + static_cast<std::uint64_t>(rank())) % per_rank;
            CHECK(schema.objects[object].bytes() == per_rank * static_cast<std::uint64_t>(size()));
            memory.emplace_back(100 + step % 300);
            memory.back().resize(std::min<std::size_t>(memory.back().size(), per_rank - first));
            pieces.push_back(part(static_cast<core::ObjectId>(object), first, memory.back()));
            whence.emplace_back(file, first);
        }
        REQUIRE(pieces.size() == 600);
        source->read(pieces);
        std::size_t wrong = 0;
        for (std::size_t n = 0; n < pieces.size(); ++n)
            for (std::size_t k = 0; k < memory[n].size(); ++k)
                wrong += memory[n][k] != value(whence[n].first, whence[n].second + k);
        CHECK(wrong == 0);
        source->read({});  // nothing on any rank
    }

    TAILRACE_MPI_TEST(
        "a read that one rank cannot do is refused on all, and the next one is done") {
        const std::string path = shared_folder() + "/plt";
        write_all(path, 1, "x");
        barrier();
        core::Phases phases;
        const auto source = formats::split::open_folder_source(world(), path, phases);
        const core::Schema schema = source->schema();
        REQUIRE(schema.objects[1].path == "/Level_0/Cell_D_0");
        std::vector<std::byte> memory(10);
        const std::uint64_t end = per_rank * static_cast<std::uint64_t>(size());
        core::Read piece = part(1, rank() == size() - 1 ? end - 9 : 0, memory);
        TAILRACE_CHECK_ALL_THROW_NAMING(Code::bad_input, "Cell_D_0", source->read({&piece, 1}));
        piece.place.offset = {end - 10};
        source->read({&piece, 1});
        CHECK(memory[9] == value(0, end - 1));
    }

    TAILRACE_MPI_TEST("files that are not there, or shorter than they were, fail on all ranks") {
        const std::string path = shared_folder() + "/plt";
        core::Phases phases;
        TAILRACE_CHECK_ALL_THROW_NAMING(Code::no_such_directory, "plt",
                                        formats::split::open_folder_source(world(), path, phases));
        write_all(path, 2, "x");
        barrier();
        for (const bool gone : {false, true}) {
            const auto source = formats::split::open_folder_source(world(), path, phases);
            const std::string file = path + "/Level_1/Cell_D_1";
            barrier();
            if (rank() == 0 && gone) fs::remove(file);
            if (rank() == 0 && !gone) fs::resize_file(file, 100);
            barrier();
            std::vector<std::byte> memory(50);
            // One rank alone reads there; that it failed holds for all, and for all that follows.
            core::Read piece = part(rank() == 0 ? 2 : 1, gone ? 0 : 80, memory);
            const Code code = gone ? Code::no_such_directory : Code::data_lost;
            TAILRACE_CHECK_ALL_THROW_NAMING(code, "Cell_D_1", source->read({&piece, 1}));
            TAILRACE_CHECK_ALL_THROW_NAMING(code, "Cell_D_1", source->read({}));
        }
    }
}
