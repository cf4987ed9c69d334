// SPDX-License-Identifier: Apache-2.0
// A format that the house does not know: all that it needs is a row, given from outside. It keeps
// its files in memory, on one of two shelves.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "../sink_users/memory_sink.hpp"
#include "comm/comm.hpp"
#include "formats/keys.hpp"
#include "formats/open.hpp"
#include "formats/registry/registry.hpp"
#include "kernels/slab/kernel.hpp"
#include "runner/run.hpp"

using namespace tailrace;
namespace fs = std::filesystem;
namespace slab = kernels::slab;

namespace {

namespace memory {

struct Options {
    bool upper = false;
    formats::Chunks chunks;
    [[nodiscard]] formats::Facts facts() const {
        return {.format = "memory", .needs_chunks = upper};
    }
};

using Shelf = std::map<fs::path, std::shared_ptr<tests::MemoryFile>>;
Shelf& shelf(const Options& own) {
    static Shelf upper, lower;
    return own.upper ? upper : lower;
}

void register_keys(core::KeyTable& table) {
    core::Key shelf = formats::key_of("memory", "Memory", "shelf", core::Shape::choice, "where");
    shelf.choices = {"lower", "upper"};
    shelf.default_text = "lower";
    table.add(shelf);
}

std::unique_ptr<core::Sink> open_sink(const comm::Comm&, const core::Target& target,
                                      const Options& own, core::Phases&) {
    auto file = std::make_shared<tests::MemoryFile>();
    shelf(own)[target.path] = file;
    return std::make_unique<tests::MemorySink>(file, core::Capabilities{});
}

std::unique_ptr<core::Source> open_source(const comm::Comm&, const fs::path& path,
                                          const Options& own, core::Phases&) {
    const auto found = shelf(own).find(path);
    if (found == shelf(own).end() || !found->second->published)
        throw core::Error(core::Code::no_such_file, "no such file on this shelf", path.string());
    return std::make_unique<tests::MemorySource>(found->second);
}

formats::Format row() {
    return {.names = {"memory"},
            .register_keys = register_keys,
            .parse = [](const core::Config& config) -> formats::Options {
                return Options{config.text("shelf") == "upper", {}};
            },
            .settle =
                [](core::Config& config, const Options& own) {
                    config.derive("shelf", own.upper ? "upper" : "lower", "memory");
                    return std::vector<std::string>{"gravity"};
                },
            .check =
                [](const formats::Planned& file, const Options&) {
                    if (file.ranks > 1)
                        throw core::Error(core::Code::unsupported, "memory is not shared",
                                          file.path.string());
                },
            .check_schema =
                [](const Options&, const core::Schema& schema) {
                    if (schema.objects.size() > 2)
                        throw core::Error(core::Code::unsupported, "a shelf is short", "memory");
                },
            .open_sink = open_sink,
            .open_source = open_source};
}

}  // namespace memory

/// Known in every build, and in this one not built.
struct Distant {
    [[nodiscard]] static formats::Facts facts() { return {.format = "distant"}; }
};

/// What a program does that brings formats of its own.
void add_ours() {
    static const bool once = [] {
        formats::add_format(memory::row());
        formats::add_format({.names = {"distant"},
                             .missing = "the sea",
                             .remedy = "go there",
                             .register_keys = [](core::KeyTable&) {},
                             .parse = [](const core::Config&) { return Distant{}; }});
        return true;
    }();
    (void)once;
}

core::Config config_of(const std::string& lines, const core::KeyTable& table) {
    core::Config config(table);
    config.add_lines(lines, "test", false);
    config.finish();
    return config;
}

core::Config config_of(const std::string& lines) {
    add_ours();
    core::KeyTable table;
    formats::register_keys(table);
    return config_of(lines, table);
}

template <class Work>
std::string refusal(Work&& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.message() + ": " + error.where() + ": " + error.remedy();
    }
    return "accepted";
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A folder for results; the data go nowhere near a disk.
struct Scratch {
    fs::path path = fs::temp_directory_path() / ("own_format-" + std::to_string(::getpid()));
    Scratch() { fs::create_directories(path); }
    ~Scratch() { fs::remove_all(path); }
};

std::unique_ptr<runner::Kernel> slab_in_memory(const fs::path& folder, const std::string& more) {
    add_ours();
    const std::string lines = "n1 60\nn2 7\naxis pair\nformat memory\nverify 1\nread_back 1\n";
    return slab::make_kernel(
        slab::inputs_from(config_of(lines + "filename " + (folder / "f").string() + "\nresults " +
                                        (folder / "results.jsonl").string() + "\n" + more,
                                    slab::key_table()),
                          1));
}

std::string run_said(const fs::path& folder) {
    runner::Outputs outputs;
    outputs.push_back(slab_in_memory(folder, ""));
    std::string said;
    runner::run(comm::Comm::self(), outputs, {},
                [&said](const std::string& text) { said += text; });
    return said;
}

}  // namespace

TEST_CASE("from keys to a file and back, every element") {
    const core::Config config = config_of("format memory\nshelf upper");
    const formats::Options options = formats::options_from(config);
    CHECK(options.facts().format == "memory");
    CHECK(options.hints() == nullptr);

    core::Object object;
    object.path = "/numbers";
    object.type = core::Scalar::f64;
    object.dims = {{30, false}, {7, false}};
    std::vector<double> data(object.bytes() / sizeof(double));
    std::iota(data.begin(), data.end(), 0.5);
    const core::Box whole{{0, 0}, {30, 7}};
    core::Phases phases;
    const fs::path path = fs::temp_directory_path() / "own_format_numbers";
    {
        auto sink = formats::open_sink(comm::Comm::self(), {path}, options, phases);
        core::Schema schema;
        schema.objects = {object};
        REQUIRE(sink->define(schema).size() == 1);
        const core::Write piece{
            0, whole, reinterpret_cast<const std::byte*>(data.data()), {}, core::Scalar::f64};
        sink->write(std::span(&piece, 1));
        sink->complete(0);
        CHECK(sink->close(core::Outcome::publish).bytes_logical == object.bytes());
    }
    std::vector<double> back(data.size());
    auto source = formats::open_source(comm::Comm::self(), path, options, phases);
    core::Read piece{0, whole, reinterpret_cast<std::byte*>(back.data()), core::Scalar::f64, {}};
    source->read(std::span(&piece, 1));
    CHECK(back == data);
    CHECK_FALSE(fs::exists(path));
    const formats::Options lower = formats::options_from(config_of("format memory"));
    CHECK(
        says(refusal([&] { (void)formats::open_source(comm::Comm::self(), path, lower, phases); }),
             "no such file on this shelf"));
}

TEST_CASE("its options are of the family") {
    formats::Options options = formats::options_from(config_of("format memory\nshelf upper"));
    options.set_chunk("/numbers", {5, 7});
    const formats::Options copy = options;
    const memory::Options& own = copy;
    CHECK(own.upper);
    CHECK(own.chunks.at("/numbers") == core::Extents{5, 7});
    CHECK(copy.facts().needs_chunks);
    CHECK_THROWS_AS((void)static_cast<const Distant&>(copy), std::bad_any_cast);

    core::Config config = config_of("format memory\ncollective_write 1");
    CHECK(formats::in_use(config, "shelf"));
    CHECK_FALSE(formats::in_use(config, "collective_write"));
    const std::vector<std::string> useless{"collective_write", "gravity"};
    CHECK(formats::settle(config, formats::options_from(config)) == useless);
    CHECK(config.place("shelf") == "memory");
    CHECK(says(refusal([] { (void)formats::options_from(config_of("format posix\nshelf upper")); }),
               "shelf upper has no meaning for format posix: test:2: take it away, or choose "
               "format memory"));
}

TEST_CASE("checks come from the row") {
    const formats::Options options = formats::options_from(config_of("format memory"));
    const core::Target target{fs::temp_directory_path() / "own_format_checked"};
    const comm::Comm self = comm::Comm::self();
    CHECK_NOTHROW(formats::check_sink(self, target, options, 1));
    CHECK(says(refusal([&] { formats::check_sink(self, target, options, 2); }), "not shared"));
    core::Schema schema;
    schema.objects.resize(2);
    CHECK_NOTHROW(formats::check_schema(options, schema));
    schema.objects.resize(3);
    CHECK(says(refusal([&] { formats::check_schema(options, schema); }), "a shelf is short"));
}

TEST_CASE("names, and what a build has not") {
    add_ours();
    CHECK(refusal([] { formats::add_format({.names = {"posix"}}); }) ==
          "there is a format posix already: posix: choose another name");
    CHECK(says(refusal([] { (void)formats::format_named("papyrus"); }), "no format papyrus"));
    core::Phases phases;
    CHECK(refusal([&] {
              (void)formats::open_sink(comm::Comm::self(), {"/f"}, Distant{}, phases);
          }) == "this build has no format distant: the sea was not found: /f: go there");
    CHECK(refusal([] { formats::check_build(Distant{}, 1); }) ==
          "this build has no format distant: the sea was not found: : go there");
    CHECK(formats::options_from(config_of("format distant")).facts().format == "distant");
}

TEST_CASE("a kernel runs in it, and verifies each element") {
    const Scratch scratch;
    const std::string said = run_said(scratch.path);
    CHECK(says(said, "840 elements"));
    CHECK_FALSE(fs::exists(scratch.path / "f"));
    memory::Shelf& shelf = memory::shelf({});
    REQUIRE(shelf.contains(scratch.path / "f"));
    CHECK(shelf[scratch.path / "f"]->data.size() == 2);
    std::stringstream record;
    record << std::ifstream(scratch.path / "results.jsonl").rdbuf();
    CHECK(says(record.str(), "\"passed\""));
    CHECK_THROWS_AS((void)slab_in_memory(scratch.path, "deflate 3\n"), core::Error);
}
