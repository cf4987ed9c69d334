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
    for (std::uint64_t c = 0; c < collections; ++c) script.push_back({Op::close, c});
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

void check(const char* what, const Setting& setting, bool sound = true) {
    const Explored found = explore(setting, [&](const World& world) -> std::string {
        if (std::string text = same(world, setting.scripts.size()); !text.empty()) return text;
        for (std::uint64_t client = 0; sound && client < setting.scripts.size(); ++client)
            for (const Heard& heard : world.heard(client))
                if (!heard.error.empty()) return "an error: " + heard.error;
        return "";
    });
    MESSAGE(what, ": ", found.states, " states, ", found.ends, " ends");
    CHECK(found.problem == "");
    CHECK(found.ends > 0);
}

}  // namespace

TEST_CASE("every order: two clients, one front end") {
    Setting setting;
    setting.scripts = {script_of(1, 2), script_of(1, 2)};
    setting.define = [](auto, auto) { return definition(2, 4, server::WhenFull::block); };
    check("1 collection, 2 steps", setting);
    setting.scripts = {script_of(1, 3), script_of(1, 3)};
    setting.define = [](auto, auto) { return definition(2, 2, server::WhenFull::block); };
    check("1 collection, 3 steps, room for one", setting);
    setting.scripts = {script_of(2, 2), script_of(2, 2)};
    check("2 collections, 2 steps", setting);
}
