// SPDX-License-Identifier: Apache-2.0
// The protocol in every order in which ranks, messages and writers can follow each other.
#include <doctest/doctest.h>

#include <algorithm>

#include "world.hpp"

using namespace tailrace;
using namespace tailrace::test;

namespace {

/// One variable per collection, of `elements` bytes over all ranks.
server::Definition definition(std::uint64_t elements, std::uint64_t limit, server::WhenFull full) {
    server::Definition one;
    one.fields = {{"T", 1, {elements}, 11}};
    one.hash = 5;
    one.body = {std::byte{1}};
    one.limit_bytes = limit;
    one.when_full = full;
    return one;
}

Script script_of(std::uint64_t collections, std::uint64_t steps,
                 std::vector<std::uint64_t> pieces = {1}) {
    Script script;
    for (std::uint64_t c = 0; c < collections; ++c)
        script.push_back({Op::add, c, std::string(1, static_cast<char>('A' + c))});
    for (std::uint64_t c = 0; c < collections; ++c)
        script.push_back({Op::file, c, "f" + std::to_string(c)});
    for (std::uint64_t s = 0; s < steps; ++s)
        for (std::uint64_t c = 0; c < collections; ++c) {
            script.push_back({Op::put, c, "", 0, pieces});
            script.push_back({Op::step, c});
        }
    script.push_back({Op::detach});
    return script;
}

/// All clients that live heard the same.
std::string same(const World& world, std::uint64_t clients) {
    const std::vector<Heard>* first = nullptr;
    for (std::uint64_t client = 0; client < clients; ++client) {
        if (world.dead(client)) continue;
        if (first == nullptr) first = &world.heard(client);
        if (*first != world.heard(client)) return "clients heard different statuses";
    }
    return "";
}

std::set<std::string> errors(const World& world, std::uint64_t client) {
    std::set<std::string> all;
    for (const Heard& heard : world.heard(client))
        if (!heard.error.empty()) all.insert(heard.error);
    return all;
}

/// In every order all ends are reached; returns what was wrong at the ends, each text once.
std::set<std::string> check(const std::string& what, const Setting& setting,
                            const std::function<std::string(const World&)>& at_the_end = {}) {
    std::set<std::string> texts;
    const Explored found = explore(setting, [&](const World& world) -> std::string {
        for (std::uint64_t client = 0; client < setting.scripts.size(); ++client)
            if (!world.dead(client)) texts.merge(errors(world, client));
        return at_the_end ? at_the_end(world) : same(world, setting.scripts.size());
    });
    MESSAGE(what, ": ", found.states, " states, ", found.ends, " ends");
    CHECK(found.problem == "");
    CHECK(found.ends > 0);
    CHECK(found.states < 120'000);  // the test takes seconds
    return texts;
}

Setting setting_of(std::uint64_t servers, Script script, std::uint64_t limit,
                   server::WhenFull full = server::WhenFull::block) {
    Setting setting;
    setting.servers = servers;
    setting.scripts = {script, std::move(script)};
    setting.define = [limit, full](auto, auto) { return definition(2, limit, full); };
    return setting;
}

Script changed(Script script, const std::function<void(Script&)>& change) {
    change(script);
    return script;
}

std::string one_error(const World& world) {
    if (errors(world, 0).size() != 1) return "client 0 did not hear of one error";
    return errors(world, 0) == errors(world, 1) ? "" : "clients heard different errors";
}

/// Clients 0 and 1 make different calls: both hear one and the same error, with these words.
void check_differ(const std::string& what, std::uint64_t servers, const Script& first,
                  const Script& second, const std::vector<std::string>& words, bool lazy = true) {
    Setting setting = setting_of(servers, first, 4);
    setting.scripts[1] = second;
    setting.lazy = lazy;
    const auto texts = check(what, setting, one_error);
    REQUIRE(texts.size() == 1);
    for (const std::string& word : words) {
        INFO(*texts.begin());
        CHECK(texts.begin()->find(word) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("every order: two clients, one front end") {
    Setting setting = setting_of(1, script_of(1, 2), 4);
    setting.lazy = false;
    CHECK(check("1 collection, 2 steps", setting).empty());
    setting = setting_of(1, script_of(1, 3), 2);
    setting.lazy = false;
    CHECK(check("1 collection, 3 steps, room for one", setting).empty());
    CHECK(check("2 collections, 2 steps", setting_of(1, script_of(2, 2), 2)).empty());
}

TEST_CASE("every order: two clients, two front ends") {
    CHECK(check("2 collections, 2 steps, room for one", setting_of(2, script_of(2, 2), 2)).empty());
}

TEST_CASE("every order: pieces wait for credit, a step for the queue") {
    Setting setting = setting_of(1, script_of(1, 2, {1, 1, 1}), 6);
    setting.define = [](auto, auto) { return definition(6, 6, server::WhenFull::block); };
    CHECK(check("3 pieces, credit for 2", setting).empty());
    setting.scripts[1] = script_of(1, 2, {});
    setting.define = [](auto, auto) { return definition(6, 12, server::WhenFull::block); };
    CHECK(check("a client has nothing", setting).empty());
}

TEST_CASE("every order: files of a collection go to the front end with the least to do") {
    const Script script = changed(script_of(1, 1), [](Script& one) {
        one.insert(one.begin() + 4,
                   {{Op::file, 0, "next"}, {Op::put, 0}, {Op::step, 0}, {Op::close, 0}});
    });
    CHECK(check("2 files, 2 front ends", setting_of(2, script, 4)).empty());
    const Script flushed = changed(script_of(1, 1), [](Script& one) {
        one.insert(one.begin() + 4,
                   {{Op::flush, 0}, {Op::file, 0, "f0"}, {Op::put, 0}, {Op::step, 0}});
    });
    CHECK(check("a flush between steps", setting_of(2, flushed, 4)).empty());
}

TEST_CASE("every order: a full queue fails the step for all, or for none") {
    const auto texts =
        check("queue full: error", setting_of(1, script_of(1, 3), 2, server::WhenFull::error));
    REQUIRE(texts.size() == 2);  // of the second step, or of the third; nothing else goes wrong
    CHECK(texts.begin()->find("f0, item 2 of collection A: the queue is full") == 0);
}

TEST_CASE("every order: the writer fails, and all hear it of that step") {
    Setting setting = setting_of(2, script_of(2, 2), 2);
    setting.scripts = {script_of(1, 3), script_of(1, 3)};
    setting.unwritable = {{0, 1}};
    CHECK(check("the second step is not written", setting) ==
          std::set<std::string>{"the disk is full"});
}

TEST_CASE("every order: different calls are one error for all, and nobody waits") {
    for (const std::uint64_t servers : {1, 2}) {
        const Script two = script_of(2, 1);
        const std::string on = " (" + std::to_string(servers) + " front ends)";
        check_differ("a put is left out" + on, servers, two,
                     changed(two, [](Script& one) { one.erase(one.begin() + 4); }),
                     {"rank 1 leaves out variable \"T\", which rank 0 gives as put 1",
                      "item 1 of collection A", "call 3"});
        check_differ("a step is left out" + on, servers, two,
                     changed(two, [](Script& one) { one.erase(one.begin() + 4, one.begin() + 6); }),
                     {"rank 1 ends a step of collection \"B\", rank 0 ends a step of collection "
                      "\"A\"",
                      "call 3"});
        check_differ("another order" + on, servers, two,
                     changed(two,
                             [](Script& one) {
                                 std::rotate(one.begin() + 4, one.begin() + 6, one.begin() + 8);
                             }),
                     {"rank 1 ends a step of collection \"B\", rank 0 ends a step of"});
        check_differ("another file" + on, servers, two,
                     changed(two, [](Script& one) { one[2].name = "other"; }),
                     {"rank 1 writes \"other\", rank 0 \"f0\""});
        check_differ("the end comes early" + on, servers, two,
                     changed(two, [](Script& one) { one.erase(one.begin() + 4, one.end() - 1); }),
                     {"rank 1 finalizes, rank 0 ends a step of collection \"A\""});
    }
    const Script one = script_of(1, 1);
    check_differ("a put is left out, news come early", 1, one,
                 changed(one, [](Script& all) { all.erase(all.begin() + 2); }),
                 {"rank 1 leaves out variable"}, false);
}

TEST_CASE("every order: pieces that wait for credit are let go after different calls") {
    // The second step of A waits for the first, which client 1 never ends.
    Script script = script_of(2, 1, {1, 1, 1});
    script.insert(script.begin() + 6, {script[4], script[5]});
    Setting setting = setting_of(2, script, 6);
    setting.scripts[1].erase(setting.scripts[1].begin() + 4, setting.scripts[1].begin() + 8);
    setting.define = [](auto, auto) { return definition(6, 6, server::WhenFull::block); };
    CHECK(check("3 pieces, steps are left out", setting, one_error).size() == 1);
}

TEST_CASE("every order: another shape or another attribute is one error for all") {
    for (const std::uint64_t hash : {5, 6}) {  // of all metadata; the definition alone differs
        Setting setting = setting_of(1, script_of(2, 1), 8);
        setting.define = [hash](std::uint64_t client, std::uint64_t collection) {
            server::Definition one = definition(2, 8, server::WhenFull::block);
            if (client == 1 && collection == 1) {
                one.fields[0] = {"T", 1, {4}, 12};
                one.hash = hash;
            }
            return one;
        };
        const std::string wanted = hash == 6 ? "rank 1 has other metadata than rank 0"
                                             : "rank 1 gives variable \"T\" another type or shape";
        const auto texts = check("another shape", setting, one_error);
        REQUIRE(texts.size() == 1);
        INFO(*texts.begin());
        CHECK(texts.begin()->find(wanted) != std::string::npos);
        CHECK(texts.begin()->find("collection B") != std::string::npos);
    }
}

TEST_CASE("every order: a client dies, and the others hear of each step what became of it") {
    for (const std::uint64_t servers : {1, 2})
        for (const std::uint64_t client : {0, 1}) {
            Setting setting = setting_of(servers, script_of(1, 2), 2);
            setting.mortal_clients = {client};
            const auto texts = check("client " + std::to_string(client) + " dies", setting);
            CHECK(!texts.empty());
            for (const std::string& text : texts)
                CHECK(text.find("rank " + std::to_string(client) + " of the model left") !=
                      std::string::npos);
        }
}

TEST_CASE("every order: a front end dies, and no client waits for it") {
    for (const std::uint64_t server : {0, 1}) {
        Setting setting = setting_of(2, script_of(2, 1), 2);
        setting.mortal_servers = {server};
        const auto texts = check("server " + std::to_string(server) + " dies", setting,
                                 [](const World&) { return std::string(); });
        CHECK(!texts.empty());
        for (const std::string& text : texts)
            CHECK(text.find("server rank " + std::to_string(server) + " has gone") !=
                  std::string::npos);
    }
}

TEST_CASE("every order: after different calls somebody dies, and nobody waits for what is lost") {
    const auto anything = [](const World&) { return std::string(); };
    const Script two = script_of(2, 1);
    Setting setting = setting_of(2, two, 2);
    setting.scripts[1].erase(setting.scripts[1].begin() + 6);  // a put of the second front end
    setting.mortal_clients = {1};
    CHECK(!check("client 1 dies", setting, anything).empty());
    setting.mortal_clients.clear();
    setting.mortal_servers = {0};
    setting.scripts = {script_of(1, 1), two};
    setting.scripts[0].insert(setting.scripts[0].begin() + 1, {Op::add, 1, "B"});
    CHECK(!check("front end 0 dies", setting, anything).empty());
}
