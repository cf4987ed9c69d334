// SPDX-License-Identifier: Apache-2.0
// Which ranks compute and which serve.
#include "server/layout/split.hpp"

#include <doctest/doctest.h>

#include "core/error.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

using Ranks = std::vector<std::uint64_t>;
using Nodes = std::vector<int>;

std::optional<Asked> some(std::uint64_t number, const char* option) {
    return Asked{number, option};
}
std::optional<Asked> model(std::uint64_t ranks) { return some(ranks, "--npes_model"); }
std::optional<Asked> servers(std::uint64_t ranks) { return some(ranks, "--npes_output_server"); }
std::optional<Asked> server_nodes(std::uint64_t nodes) {
    return some(nodes, "--nodes_output_server");
}

Wanted shared(std::optional<Asked> of_model, std::optional<Asked> of_servers) {
    return {std::move(of_model), std::move(of_servers), {}, false, {}};
}

struct Case {
    const char* about;
    Wanted wanted;
    Nodes nodes;
    Ranks model, servers, left_over;
    bool isolated;
};

void check(const Case& one) {
    INFO(one.about);
    const Split found = split(one.wanted, one.nodes);
    CHECK(found.model == one.model);
    CHECK(found.servers == one.servers);
    CHECK(found.left_over == one.left_over);
    CHECK(found.isolated == one.isolated);
}

const Nodes one_node = {0, 0, 0, 0, 0, 0}, three_nodes = {0, 0, 0, 1, 1, 1, 2, 2, 2};

}  // namespace

TEST_CASE("split: without servers") {
    check({"nothing is asked for", {}, one_node, {0, 1, 2, 3, 4, 5}, {}, {}, false});
    check({"fewer for the model", {model(4), {}, {}}, one_node, {0, 1, 2, 3}, {}, {4, 5}, false});
    check({"none by ranks", {{}, servers(0), {}}, {0, 1}, {0, 1}, {}, {}, false});
    check({"none by nodes", {{}, {}, server_nodes(0)}, {0, 1}, {0, 1}, {}, {}, false});
    check(
        {"over nodes", {model(4), {}, {}}, three_nodes, {0, 1, 2, 3}, {}, {4, 5, 6, 7, 8}, false});
}

TEST_CASE("split: ranks of one node") {
    check({"both given", {model(4), servers(2), {}}, one_node, {0, 1, 2, 3}, {4, 5}, {}, false});
    check({"servers alone", {{}, servers(2), {}}, one_node, {0, 1, 2, 3}, {4, 5}, {}, false});
    check({"left over", {model(3), servers(1), {}}, one_node, {0, 1, 2}, {3}, {4, 5}, false});
}

TEST_CASE("split: nodes that model and servers do not share") {
    check({"ranks of the model's last node are left over",
           {model(4), servers(2), {}},
           three_nodes,
           {0, 1, 2, 3},
           {6, 7},
           {4, 5, 8},
           true});
    check({"servers at the end",
           {{}, servers(2), {}},
           three_nodes,
           {0, 1, 2, 3, 4, 5},
           {6, 7},
           {8},
           true});
    check({"servers of two nodes",
           {{}, servers(4), {}},
           three_nodes,
           {0, 1, 2},
           {3, 4, 5, 6},
           {7, 8},
           true});
    check({"whole nodes serve",
           {model(3), {}, server_nodes(2)},
           three_nodes,
           {0, 1, 2},
           {3, 4, 5, 6, 7, 8},
           {},
           true});
    check({"the last node serves",
           {{}, {}, server_nodes(1)},
           three_nodes,
           {0, 1, 2, 3, 4, 5},
           {6, 7, 8},
           {},
           true});
    check({"nodes of several sizes",
           {model(2), {}, server_nodes(1)},
           {0, 1, 1, 1, 2, 2},
           {0, 1},
           {4, 5},
           {2, 3},
           true});
}

TEST_CASE("split: nodes that they share") {
    check({"across a border",
           shared(model(4), servers(2)),
           three_nodes,
           {0, 1, 2, 3},
           {4, 5},
           {6, 7, 8},
           false});
    check({"model: the rest",
           shared({}, servers(2)),
           three_nodes,
           {0, 1, 2, 3, 4, 5, 6},
           {7, 8},
           {},
           false});
    Wanted whole{model(3), {}, server_nodes(1), false, {}};
    check({"whole nodes stay whole", whole, three_nodes, {0, 1, 2}, {3, 4, 5}, {6, 7, 8}, true});
}

TEST_CASE("split: ranks that go round the nodes keep their order") {
    const Nodes round = {7, 5, 7, 5, 7, 5};
    check({"by nodes", {model(3), servers(2), {}}, round, {0, 2, 4}, {1, 3}, {5}, true});
    check({"by ranks", shared(model(4), servers(2)), round, {0, 1, 2, 4}, {3, 5}, {}, false});
}

TEST_CASE("split: too few ranks") {
    const auto error_of = [](const Wanted& wanted, const Nodes& nodes) {
        try {
            static_cast<void>(split(wanted, nodes));
        } catch (const core::Error& error) {
            CHECK(error.code() == core::Code::bad_input);
            return error.where() + ": " + error.message() + "; " + error.remedy();
        }
        FAIL("no error");
        return std::string();
    };
    CHECK(error_of({model(7), {}, {}}, one_node) ==
          "--npes_model: asked for: 7 ranks for the model, but the program runs with 6 ranks on 1 "
          "node: 1 rank too few; start more ranks, or ask for fewer");
    CHECK(error_of({model(5), servers(2), {}}, one_node).find(": 1 rank too few") !=
          std::string::npos);
    CHECK(error_of({model(7), servers(3), {}}, three_nodes) ==
          "--npes_model, --npes_output_server: asked for: 7 ranks for the model and 3 ranks for "
          "servers, but the program runs with 9 ranks on 3 nodes: 3 ranks too few; start more "
          "ranks, or ask for fewer, or let model and servers share a node: --isolate_nodes false");
    CHECK(error_of({model(4), {}, server_nodes(2)}, three_nodes)
              .find("the model leaves 1 whole node;") != std::string::npos);
    CHECK(error_of({{}, servers(6), {}}, one_node).find("no rank is left for the model") !=
          std::string::npos);
    CHECK(error_of({{}, {}, server_nodes(3)}, three_nodes).find("no rank is left for the model") !=
          std::string::npos);
    CHECK(error_of({{}, servers(std::uint64_t{1} << 63), {}}, one_node).find("too few") !=
          std::string::npos);
    CHECK(error_of({{}, servers(9), {}}, three_nodes).find("no rank is left for the model") !=
          std::string::npos);
    CHECK(error_of({model(4), servers(2), {}, true, "--isolate_nodes"}, one_node)
              .find("--isolate_nodes false") != std::string::npos);
}
