// SPDX-License-Identifier: Apache-2.0
// From command line, environment and server.toml to a layout.
#include "server/layout/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "comm/threads.hpp"
#include "core/error.hpp"
#include "server/layout/agree.hpp"
#include "server/layout/options.hpp"

using namespace tailrace;
using namespace tailrace::server;
using core::Code;
using core::Words;

namespace {

/// A program on so many ranks of one node.
struct Start {
    Words words{};
    Variables environment{};
    const char* toml = nullptr;
    std::size_t ranks = 6;

    [[nodiscard]] Layout layout() const {
        const Given all = given(words, environment);
        std::optional<ServerFile> file;
        if (toml != nullptr) file = ServerFile{"server.toml", toml};
        return layout_of(all.options, file, std::vector<int>(ranks, 0));
    }
};

Start with_words(Words words) { return {std::move(words)}; }
Start with_variable(const char* name, const char* value) { return {{}, {{name, value}}}; }
Start with_toml(const char* toml) { return {{}, {}, toml}; }

/// The whole text, for a person.
std::string error_of(Code code, const std::function<void()>& work) {
    try {
        work();
    } catch (const core::Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
    FAIL("no error");
    return "";
}

struct Wrong {
    Start start;
    const char* where;
    const char* message;
    const char* remedy;
    Code code = Code::bad_input;
};

void check_wrong(const std::vector<Wrong>& all) {
    for (const Wrong& one : all) {
        try {
            static_cast<void>(one.start.layout());
            FAIL_CHECK("no error, but wanted: " << one.message);
        } catch (const core::Error& error) {
            CHECK(error.where() == one.where);
            CHECK(error.message() == one.message);
            CHECK(error.remedy() == one.remedy);
            CHECK(error.code() == one.code);
        }
    }
}

}  // namespace

TEST_CASE("layout: nothing is said") {
    const Layout layout = Start{}.layout();
    CHECK(layout.kind == LayoutKind::embedded);
    CHECK(layout.ranks.model.size() == 6);
    CHECK(layout.slab_bytes == 8 << 20);
    CHECK(layout.credit_bytes == 16 << 20);
    CHECK(layout.shared_bytes == 64 << 20);
    CHECK(!layout.fast);
    CHECK(!layout.profiler);
    CHECK(layout.stuck_timeout_s == 300);
    const CollectionOptions daily = layout.collection("daily");
    CHECK(daily.name == "daily");
    CHECK(daily.format == FileFormat::netcdf4);
    CHECK(daily.existing == core::Existing::refuse);
    CHECK(daily.durability == core::Durability::durable);
    CHECK(daily.when_full == WhenFull::block);
    CHECK(daily.depth == 2);
    CHECK(daily.queue_bytes == 0);
    CHECK(layout.text() == "model: 6 ranks (0-5), which write themselves");
}

TEST_CASE("layout: the forms of options, and the model's own words as they were") {
    struct Case {
        Words words, rest;
        std::size_t model, servers;
        bool fast, profiler;
    };
    const std::vector<Case> all = {
        {{"prog", "--npes_model", "4", "--npes_output_server", "2"}, {"prog"}, 4, 2, false, false},
        {{"--npes_model=3", "--npes_output_server=1"}, {}, 3, 1, false, false},
        {{"\xe2\x80\x93npes_model", "4", "\xe2\x80\x94npes_output_server", "2"},
         {},
         4,
         2,
         false,
         false},
        {{"\xe2\x80\x93\xe2\x80\x93npes_model=2",
          "\xe2\x88\x92\xe2\x88\x92"
          "fast_oclient"},
         {},
         2,
         0,
         true,
         false},
        {{"-npes_model", "5"}, {}, 5, 0, false, false},
        {{"--npes_model", "-1", "--npes_output_server", "2"}, {}, 4, 2, false, false},
        {{"--fast_oclient", "true", "--with_io_profiler", "x.nml"}, {"x.nml"}, 6, 0, true, true},
        {{"--fast_oclient=false", "--with_io_profiler", "--dt", "5"},
         {"--dt", "5"},
         6,
         0,
         false,
         true},
        {{"--with_io_profiler", ".TRUE.", "--fast_oclient", "off"}, {}, 6, 0, false, true},
        {{"a", "--npes_model", "4", "-n", "--x=1", "\xe2\x80\x93y", "b", ""},
         {"a", "-n", "--x=1", "\xe2\x80\x93y", "b", ""},
         4,
         0,
         false,
         false},
        {{"--npes_model", "4", "--", "--npes_model", "5", "--npes_modle"},
         {"--", "--npes_model", "5", "--npes_modle"},
         4,
         0,
         false,
         false},
    };
    for (const Case& one : all) {
        const Start start{one.words};
        CHECK(given(one.words, {}).rest == one.rest);
        const Layout layout = start.layout();
        CHECK(layout.ranks.model.size() == one.model);
        CHECK(layout.ranks.servers.size() == one.servers);
        CHECK((layout.kind == LayoutKind::simple) == (one.servers > 0));
        CHECK(layout.fast == one.fast);
        CHECK(layout.profiler == one.profiler);
    }
}

TEST_CASE("layout: the other options of MAPL belong to the model") {
    const Words words = {"--use_sub_comm",
                         "--comm_model",
                         "*",
                         "--cap_rc",
                         "CAP.rc",
                         "--egress_file",
                         "EGRESS",
                         "--root_dso",
                         "none",
                         "--esmf_logtype",
                         "single",
                         "--with_esmf_moab",
                         "--prefix",
                         "mem",
                         "--n_members",
                         "2",
                         "--logging_config",
                         "a.yaml"};
    CHECK(given(words, {}).rest == words);
}

TEST_CASE("layout: words that are wrong") {
    check_wrong({
        {with_words({"--npes_modle", "4"}), "command line",
         "unknown option \"--npes_modle\". Did you mean \"--npes_model\"?",
         "write --npes_model N; an option of the model that looks like it goes behind a word --"},
        {with_words({"--npes-output-server=2"}), "command line",
         "unknown option \"--npes-output-server\". Did you mean \"--npes_output_server\"?",
         "write --npes_output_server N; an option of the model that looks like it goes behind a "
         "word --"},
        {with_words({"--npes_model"}), "--npes_model", "--npes_model needs a value",
         "write --npes_model N"},
        {with_words({"--npes_model="}), "--npes_model", "--npes_model needs a value",
         "write --npes_model N"},
        {with_words({"--npes_model", "--fast_oclient"}), "--npes_model",
         "--npes_model needs a value", "write --npes_model N"},
        {with_words({"--npes_model", "four"}), "--npes_model",
         "\"four\" of npes_model is not a whole number", "write --npes_model N"},
        {with_words({"--npes_output_server", "2x"}), "--npes_output_server",
         "\"2x\" of npes_output_server is not a whole number", "write --npes_output_server N"},
        {with_words({"--npes_output_server", "-2"}), "--npes_output_server",
         "\"-2\" of npes_output_server is negative", "write --npes_output_server N"},
        {with_words({"--fast_oclient=maybe"}), "--fast_oclient",
         "fast_oclient is on or off, not \"maybe\"", "write --fast_oclient true|false"},
        {with_words({"--npes_model", "4", "--npes_model", "5"}), "--npes_model",
         "npes_model is given twice", "it was given first at --npes_model as \"4\"; keep one"},
        {with_words({"--npes_output_server", "1", "--nodes_output_server", "1"}),
         "--npes_output_server, --nodes_output_server",
         "npes_output_server and nodes_output_server exclude each other", "give one of them"},
        {with_words({"--isolate_nodes", "--compress_nodes"}), "--isolate_nodes, --compress_nodes",
         "isolate_nodes and compress_nodes exclude each other", "give one of them"},
        {with_words({"--server_depth", "2.5"}), "--server_depth",
         "\"2.5\" of depth is not a whole number", "write --server_depth N"},
        {with_words({"--server_slab_bytes", "8 MiBs"}), "--server_slab_bytes",
         "slab_bytes: \"8 MiBs\" has no unit that is known", "write --server_slab_bytes BYTES"},
        {with_words({"--server_slab_bytes", "0"}), "--server_slab_bytes",
         "slab_bytes must be at least 1", "write --server_slab_bytes BYTES"},
        {with_words({"--server_slab_bytes=10MiB"}), "--server_slab_bytes",
         "credit_bytes of 16777216 bytes (16 MiB) are less than two slabs of 10485760 bytes (10 "
         "MiB)",
         "write --server_slab_bytes BYTES"},
        {with_words({"--server_stuck_timeout_s", "-1"}), "--server_stuck_timeout_s",
         "\"-1\" of stuck_timeout_s is negative", "write --server_stuck_timeout_s SECONDS"},
        {with_words({"--oserver_type", "sinlge"}), "--oserver_type",
         "oserver_type must be one of single, multigroup, multicomm, multilayer, vector, helper, "
         "not \"sinlge\". Did you mean \"single\"?",
         "write --oserver_type single"},
        {with_words({"--npes_model", "7"}), "--npes_model",
         "asked for: 7 ranks for the model, but the program runs with 6 ranks on 1 node: 1 rank "
         "too few",
         "start more ranks, or ask for fewer"},
    });
}

TEST_CASE("layout: what is known and not built yet") {
    const Code code = Code::unsupported;
    check_wrong({
        {with_words({"--oserver_type", "multigroup"}), "--oserver_type",
         "oserver_type multigroup is not built yet", "leave it out, or write --oserver_type single",
         code},
        {with_words({"--npes_output_server", "2", "1", "1"}), "--npes_output_server",
         "npes_output_server asks for 3 independent servers; one of several ranks is built, "
         "several are not yet",
         "add them up: write --npes_output_server N", code},
        {with_words({"--npes_backend_pernode", "2"}), "--npes_backend_pernode",
         "npes_backend_pernode 2 is not built yet",
         "leave it out, or write --npes_backend_pernode 0", code},
        {with_words({"--nodes_input_server", "1", "1"}), "--nodes_input_server",
         "nodes_input_server 1 1 is not built yet", "leave it out, or write --nodes_input_server 0",
         code},
        {with_words({"--one_node_output", "true"}), "--one_node_output",
         "one_node_output true is not built yet", "leave it out, or write --one_node_output false",
         code},
        {with_variable("TAILRACE_SERVER_WHEN_FULL", "spill"), "TAILRACE_SERVER_WHEN_FULL",
         "when_full spill is not built yet",
         "leave it out, or set TAILRACE_SERVER_WHEN_FULL=block|error, or unset it", code},
        {with_toml("[collections.a]\ndurability = 'log'"), "server.toml:2",
         "durability log is not built yet",
         "leave it out, or write `durability = \"durable|flushed|none\"`", code},
    });
    CHECK(with_words({"--npes_backend_pernode=0", "--one_node_output", "false"}).layout().kind ==
          LayoutKind::embedded);
}

TEST_CASE("layout: the environment") {
    const Layout layout = Start{
        {},
        {{"TAILRACE_SERVER_NPES_OUTPUT_SERVER", "2"},
         {"TAILRACE_SERVER_WITH_IO_PROFILER", "1"},
         {"TAILRACE_SERVER_QUEUE_BYTES", "64 MiB"},
         {"TAILRACE_SERVER_DEPTH", ""},
         {"TAILRACE_RESULTS",
          "x"}}}.layout();
    CHECK(layout.ranks.servers.size() == 2);
    CHECK(layout.profiler);
    CHECK(layout.collection("a").queue_bytes == 64 << 20);
    CHECK(layout.collection("a").depth == 2);
    check_wrong({
        {with_variable("TAILRACE_SERVER_NPES_MODEL", "many"), "TAILRACE_SERVER_NPES_MODEL",
         "\"many\" of npes_model is not a whole number",
         "set TAILRACE_SERVER_NPES_MODEL=N, or unset it"},
        {with_variable("TAILRACE_SERVER_DEPHT", "3"), "TAILRACE_SERVER_DEPHT",
         "the environment variable stands for no key. Did you mean \"TAILRACE_SERVER_DEPTH\"?",
         "unset it; docs/reference/server_options.md lists all variables", Code::unknown_key},
    });
}

TEST_CASE("layout: server.toml") {
    const Layout layout = with_toml(R"(
npes_output_server = 2
credit_bytes = "32 MiB"
stuck_timeout_s = 2.5
fast_oclient = true
deflate = 1

[collections.daily]
file = "out/daily_%Y%m%d.nc"
calendar = "noleap"
records_per_file = 24
existing = "replace"
durability = "flushed"
when_full = "error"
queue_bytes = 1048576
depth = 4
deflate = 0
zstd = 3
shuffle = true

[collections."a.b"]
format = "hdf5"
)")
                              .layout();
    CHECK(layout.ranks.servers.size() == 2);
    CHECK(layout.credit_bytes == 32 << 20);
    CHECK(layout.stuck_timeout_s == 2.5);
    CHECK(layout.fast);
    const CollectionOptions daily = layout.collection("daily");
    CHECK(daily.file == "out/daily_%Y%m%d.nc");
    CHECK(daily.calendar == Calendar::noleap);
    CHECK(daily.records_per_file == 24);
    CHECK(daily.existing == core::Existing::replace);
    CHECK(daily.durability == core::Durability::flushed);
    CHECK(daily.when_full == WhenFull::error);
    CHECK(daily.queue_bytes == 1048576);
    CHECK(daily.depth == 4);
    CHECK(daily.deflate == 0);
    CHECK(daily.zstd == 3);
    CHECK(daily.shuffle);
    CHECK(layout.collection("a.b").format == FileFormat::hdf5);
    CHECK(layout.collection("a.b").deflate == 1);
    CHECK(layout.collection("c").deflate == 1);
    CHECK(layout.collection("c").format == FileFormat::netcdf4);
}

TEST_CASE("layout: server.toml with mistakes") {
    const std::string lists = "docs/reference/server_options.md lists all keys";
    check_wrong({
        {with_toml("\nnpes_model = 'x'"), "server.toml:2",
         "\"x\" of npes_model is not a whole number", "write `npes_model = N`"},
        {with_toml("npes_modell = 4"), "server.toml:1",
         "unknown key \"npes_modell\". Did you mean \"npes_model\"?", lists.c_str(),
         Code::unknown_key},
        {with_toml("depth = true"), "server.toml:1", "\"true\" of depth is not a whole number",
         "write `depth = N`"},
        {with_toml("depth = 2000-01-01"), "server.toml:1",
         "depth is one value, not a table, a date or a list", "write `depth = N`"},
        {with_toml("file = 'a.nc'"), "server.toml:1", "file belongs to one collection",
         "move it into a table [collections.NAME]", Code::unknown_key},
        {with_toml("config = 'a.toml'"), "server.toml:1", "config cannot stand in a file",
         "write --server_config FILE"},
        {with_toml("collections = 3"), "server.toml:1", "collections is no table",
         "write [collections.NAME], and its keys on the lines below"},
        {with_toml("[collections]\ndaily = 3"), "server.toml:2", "daily of collections is no table",
         "write [collections.NAME], and its keys on the lines below"},
        {with_toml("[collections.a]\nnpes_model = 3"), "server.toml:2",
         "npes_model belongs to the whole server",
         "move it to the top of the file, before the first table", Code::unknown_key},
        {with_toml("[collections.a.b]\ndepth = 3"), "server.toml:1",
         "collection \"a\" has a table \"b\"",
         "a collection has no tables; a name with a stop in it stands in quotation marks: "
         "[collections.\"a.b\"]",
         Code::unknown_key},
        {with_toml("[collections.a]\nfromat = 'hdf5'"), "server.toml:2",
         "unknown key \"fromat\". Did you mean \"format\"?", lists.c_str(), Code::unknown_key},
        {with_toml("[collections.a]\nformat = 'netcdf'"), "server.toml:2",
         "format must be one of netcdf4, cdf5, hdf5, not \"netcdf\". Did you mean \"netcdf4\"?",
         "write `format = \"netcdf4|cdf5|hdf5\"`"},
        {with_toml("[collections.a]\ndeflate = 10"), "server.toml:2",
         "deflate must be at most 9, not \"10\"", "write `deflate = LEVEL`"},
        {with_toml("[collections.a]\ndeflate = 1\nzstd = 1"), "server.toml:3",
         "zstd 1 and deflate 1 exclude each other", "write `zstd = LEVEL`"},
        {with_toml("shuffle = true\n[collections.a]\nformat = 'cdf5'"), "server.toml:1",
         "shuffle is asked for, and cdf5 has none", "write `shuffle = true|false`"},
        {with_toml("[collections.a]\nfile = 'a.nc'\nrecords_per_file = 4"), "server.toml:2",
         "all files of the collection would be called \"a.nc\", and a new one begins after 4 "
         "records: put a date into it",
         "write `file = \"NAME\"`"},
    });
    const std::string text =
        error_of(Code::bad_input, [] { static_cast<void>(with_toml("a = 1\nb = = 2").layout()); });
    CHECK(text.find("server.toml:2") != std::string::npos);
    const std::string unknown_date = error_of(Code::bad_input, [] {
        static_cast<void>(with_toml("[collections.a]\nfile = 'a_%Q.nc'").layout());
    });
    CHECK(unknown_date.find("server.toml:2") != std::string::npos);
    CHECK(unknown_date.find("a_%Q.nc") != std::string::npos);
}

TEST_CASE("layout: command line before environment before file before default") {
    const char* toml = "depth = 3\nnodes_output_server = 1\n[collections.a]\ndepth = 4";
    const Variables environment = {{"TAILRACE_SERVER_DEPTH", "5"},
                                   {"TAILRACE_SERVER_NPES_OUTPUT_SERVER", "1"}};
    const auto depths = [](const Start& start) {
        const Layout layout = start.layout();
        return std::pair(layout.collection("a").depth, layout.collection("b").depth);
    };
    CHECK(depths({}) == std::pair<std::uint64_t, std::uint64_t>(2, 2));
    CHECK(depths({{"--npes_output_server", "2"}, {}, toml}) ==
          std::pair<std::uint64_t, std::uint64_t>(4, 3));
    CHECK(depths({{}, environment, toml}) == std::pair<std::uint64_t, std::uint64_t>(5, 5));
    const Start all{{"--server_depth", "6", "--npes_output_server=2"}, environment, toml};
    CHECK(depths(all) == std::pair<std::uint64_t, std::uint64_t>(6, 6));
    CHECK(all.layout().ranks.servers.size() == 2);
    CHECK(Start{{}, environment, toml}.layout().ranks.servers.size() == 1);
    CHECK(Start{{"--npes_model", "-1"}, {}, "npes_model = 2"}.layout().ranks.model.size() == 6);
    CHECK(Start{{}, {}, "npes_model = -1"}.layout().ranks.model.size() == 6);
    CHECK(with_variable("TAILRACE_SERVER_NPES_MODEL", "2").layout().ranks.model.size() == 2);
}

TEST_CASE("layout: nodes of their own, or shared") {
    const auto servers = [](const Words& words) {
        return layout_of(given(words, {}).options, std::nullopt, std::vector{0, 0, 0, 1, 1, 1})
            .ranks.servers;
    };
    using Ranks = std::vector<std::uint64_t>;
    CHECK(servers({"--npes_model=2", "--npes_output_server=1"}) == Ranks{3});
    CHECK(servers({"--npes_model=2", "--npes_output_server=1", "--isolate_nodes", "false"}) ==
          Ranks{2});
    CHECK(servers({"--npes_model=2", "--npes_output_server=1", "--compress_nodes"}) == Ranks{2});
    CHECK(servers({"--npes_model=2", "--nodes_output_server", "1"}) == Ranks{3, 4, 5});
    const std::string text = error_of(Code::bad_input, [] {
        static_cast<void>(
            with_words({"--npes_model=2", "--npes_output_server=1", "--isolate_nodes"}).layout());
    });
    CHECK(text.find("share a node: --isolate_nodes false") != std::string::npos);
}

TEST_CASE("layout: who is left over is said") {
    CHECK(with_words({"--npes_model=2", "--npes_output_server=1"}).layout().text() ==
          "model: 2 ranks (0-1); servers: 1 rank (2)\n"
          "left over, neither computing nor serving: 3 ranks (3-5); start fewer ranks, or give "
          "more of them a task");
    const Layout apart = layout_of(given({"--npes_model=1", "--npes_output_server=1"}, {}).options,
                                   std::nullopt, std::vector{0, 0, 1, 1});
    CHECK(apart.text() ==
          "model: 1 rank (0); servers: 1 rank (2)\n"
          "left over, neither computing nor serving: 2 ranks (1, 3); --isolate_nodes false lets "
          "model and servers share a node");
}

TEST_CASE("layout: as bytes and back") {
    const Layout layout =
        with_toml("npes_output_server = 2\n[collections.a]\ndepth = 3\nfile = 'a_%j.nc'").layout();
    const Layout back = Layout::from_bytes(layout.to_bytes());
    CHECK(back.to_bytes() == layout.to_bytes());
    CHECK(back.hash() == layout.hash());
    CHECK(back.collection("a").file == "a_%j.nc");
    CHECK(Start{}.layout().hash() != layout.hash());
    Layout other = layout;
    other.collections.front().depth = 4;
    CHECK(other.hash() != layout.hash());
    auto bytes = layout.to_bytes();
    bytes.pop_back();
    CHECK(
        !error_of(Code::data_lost, [&] { static_cast<void>(Layout::from_bytes(bytes)); }).empty());
}

TEST_CASE("layout: all ranks have that of rank 0, and their own words") {
    ::setenv("TAILRACE_RANKS_PER_NODE", "2", 1);
    comm::run_threads(6, [](const comm::Comm& world) {
        const Agreed mine = agree(world,
                                  {"prog", "--npes_model=3", "--npes_output_server", "1",
                                   std::to_string(world.rank()) + ".nml"},
                                  {});
        CHECK(mine.rest == Words{"prog", std::to_string(world.rank()) + ".nml"});
        CHECK(mine.layout.ranks.model == std::vector<std::uint64_t>{0, 1, 2});
        CHECK(mine.layout.ranks.servers == std::vector<std::uint64_t>{4});
        CHECK(mine.layout.ranks.left_over == std::vector<std::uint64_t>{3, 5});
        CHECK(world.same(mine.layout.hash()));
    });
    ::unsetenv("TAILRACE_RANKS_PER_NODE");
}

TEST_CASE("layout: the environment of rank 0 counts for all") {
    comm::run_threads(3, [](const comm::Comm& world) {
        const Agreed mine =
            agree(world, {}, {{"TAILRACE_SERVER_NPES_MODEL", world.rank() == 0 ? "2" : "many"}});
        CHECK(mine.layout.ranks.model.size() == 2);
    });
}

TEST_CASE("layout: errors reach all ranks") {
    const auto all_say = [](const std::function<Words(int)>& words, Code code, const char* part) {
        comm::run_threads(3, [&](const comm::Comm& world) {
            const std::string text =
                error_of(code, [&] { static_cast<void>(agree(world, words(world.rank()), {})); });
            CHECK_MESSAGE(text.find(part) != std::string::npos, text);
        });
    };
    all_say([](int) { return Words{"--npes_model=9"}; }, Code::bad_input, "9 ranks for the model");
    all_say([](int) { return Words{"--server_config=none.toml"}; }, Code::no_such_file,
            "--server_config");
    all_say([](int rank) { return rank == 2 ? Words{"--npes_model=x"} : Words{}; }, Code::bad_input,
            "\"x\" of npes_model");
    all_say([](int rank) { return rank == 1 ? Words{"--server_depth=3"} : Words{}; },
            Code::rank_mismatch, "rank 1 has depth 3, rank 0 has none");
}

TEST_CASE("layout: which file is read") {
    CHECK(!read_server_file(given({}, {}).options));
    std::ofstream("server.toml") << "npes_model = 2\n";
    std::ofstream("other.toml") << "npes_model = 1\n";
    comm::run_threads(2, [](const comm::Comm& world) {
        CHECK(agree(world, {}, {}).layout.ranks.model.size() == 2);
        CHECK(agree(world, {"--server_config", "other.toml"}, {}).layout.ranks.model.size() == 1);
        CHECK(agree(world, {}, {{"TAILRACE_SERVER_CONFIG", "other.toml"}})
                  .layout.ranks.left_over.size() == 1);
    });
    const std::string folder = error_of(Code::no_such_file, [] {
        static_cast<void>(read_server_file(given({"--server_config=."}, {}).options));
    });
    CHECK(folder.find("cannot read .: it is no file") != std::string::npos);
    std::remove("server.toml");
    std::remove("other.toml");
}

TEST_CASE("layout: the environment of the process") {
    ::setenv("TAILRACE_SERVER_DEPTH", "a=b", 1);
    const Variables all = environment_of_process();
    CHECK(std::find(all.begin(), all.end(),
                    std::pair<std::string, std::string>("TAILRACE_SERVER_DEPTH", "a=b")) !=
          all.end());
    ::unsetenv("TAILRACE_SERVER_DEPTH");
}

TEST_CASE("layout: the reference page has all options") {
    const char* page = TAILRACE_SOURCE "/docs/reference/server_options.md";
    const std::string mark = "<!-- generated by tests/server/layout.cpp -->\n";
    std::ifstream in(page);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::size_t begin = text.find(mark), end = text.rfind(mark);
    REQUIRE(begin < end);
    const std::size_t after = begin + mark.size();
    if (std::getenv("TAILRACE_REGENERATE") == nullptr)
        CHECK(text.substr(after, end - after) == "\n" + options_page() + "\n");
    else
        std::ofstream(page) << text.substr(0, after) << "\n"
                            << options_page() << "\n"
                            << text.substr(end);
}
