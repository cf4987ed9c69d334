// SPDX-License-Identifier: Apache-2.0
// What the state machines refuse, and what a front end of many clients costs. Orders of messages:
// every_order.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "server/protocol/client.hpp"
#include "server/protocol/front_end.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.what();
    }
    FAIL("no error");
    return "";
}

void check_refused(const std::string& words, const std::function<void()>& work) {
    const std::string text = error_of(work);
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
}

Definition definition(std::uint64_t elements) {
    Definition one;
    one.fields = {{"T", 4, {elements, 2}, 1}, {"u", 8, {elements}, 2}};
    one.hash = 3;
    one.body = {std::byte{1}};
    one.limit_bytes = 1000 * elements;
    return one;
}

Client client_of(std::uint64_t client = 0, std::uint64_t clients = 1) {
    return Client({.client = client, .clients = clients, .slab_bytes = 64, .credit_bytes = 128});
}

}  // namespace

TEST_CASE("client: wrong calls are refused at once, by name") {
    CHECK(error_of([] {
              Client({.slab_bytes = 64, .credit_bytes = 127});
          }).find("credit_bytes of 127 bytes are less than two slabs of 64 bytes") !=
          std::string::npos);
    Client client = client_of();
    check_refused("there is no collection 0", [&] { client.name_file(0, "a.nc"); });
    check_refused("collection small: the queue of 1 byte cannot hold a step", [&] {
        Definition small = definition(8);
        small.limit_bytes = 1;
        static_cast<void>(client.add_collection("small", small));
    });
    CHECK(client.add_collection("hourly", definition(8)) == 0);
    const std::vector<Piece> piece{{{{0, 0}, {2, 2}}, 0}};
    check_refused("no file is open for variable T", [&] { client.put(0, 0, 0, piece); });
    check_refused("collection hourly: no file is open", [&] { client.end(0, Ending::close_file); });
    client.name_file(0, "a.nc");
    check_refused("there is no variable 2", [&] { client.put(0, 2, 0, piece); });
    check_refused("variable u: the block [0:2, 0:2] lies outside of the global [0:8]",
                  [&] { client.put(0, 1, 0, piece); });
    check_refused("variable T: the block [7:9, 0:2] lies outside", [&] {
        client.put(0, 0, 0, std::vector<Piece>{{{{7, 0}, {2, 2}}, 0}});
    });
    Client narrow({.slab_bytes = 8, .credit_bytes = 16});
    static_cast<void>(narrow.add_collection("hourly", definition(8)));
    narrow.name_file(0, "a.nc");
    check_refused("a piece of 16 bytes is over slab_bytes, 8 bytes",
                  [&] { narrow.put(0, 0, 0, piece); });
    client.put(0, 0, 0, piece);
    check_refused("the step writes a.nc already, not b.nc", [&] { client.name_file(0, "b.nc"); });
    check_refused("the step was not ended", [&] { client.end(0, Ending::flush); });
    check_refused("metadata cannot change within a step", [&] { client.define(0, definition(9)); });
    check_refused("collection hourly: the last step was not ended", [&] { client.detach(); });
    client.end(0, Ending::step);
    check_refused("a status was taken before it was there",
                  [&] { static_cast<void>(client.statuses(0, 0)); });
    client.detach();
    check_refused("the server was left", [&] { client.name_file(0, "b.nc"); });
}

TEST_CASE("client and front end: what the other side never sends is refused") {
    Client client = client_of();
    check_refused("front end 0 sent what only clients send", [&] { client.receive(0, Hello{}); });
    FrontEnd front_end({});
    check_refused("rank 0 sent what only front ends send", [&] { front_end.receive(0, Credit{}); });
}

TEST_CASE(
    "front end: a piece whose elements are lost fails its item on all clients, and waits for no "
    "room") {
    std::vector<Client> clients{client_of(0, 2), client_of(1, 2)};
    FrontEnd front_end({.clients = 2});
    std::uint64_t dropped = 0, bytes = 0;
    for (std::uint64_t i = 0; i < 2; ++i) {
        Client& client = clients[i];
        static_cast<void>(client.add_collection("hourly", definition(8)));
        client.name_file(0, "a.nc");
        client.put(0, 1, 3, std::vector<Piece>{{{{4 * i}, {4}}, 7}});
        if (i == 1) client.forget_payloads();
        client.end(0, Ending::step);
        for (Outgoing& one : client.take()) {
            if (auto* data = std::get_if<Data>(&one.message)) {
                CHECK(one.payload == (i == 1 ? Outgoing::forgotten : 7));
                if (i == 1) data->lost = client.no_memory(*data);
                CHECK(bytes_behind(one.message) == (i == 1 ? 0 : 32));
            }
            front_end.receive(i, one.message);
        }
    }
    for (const Event& event : front_end.take_events()) {
        CHECK(!std::holds_alternative<Complete>(event));
        dropped += std::holds_alternative<Dropped>(event);
    }
    CHECK(dropped == 1);
    for (const Reply& reply : front_end.take_replies())
        if (const auto* credit = std::get_if<Credit>(&reply.message)) {
            bytes += credit->bytes;
            clients[reply.to].receive(0, *credit);
        }
    CHECK(bytes == 64);  // what was lost had its credit too
    for (Client& client : clients) {
        const auto statuses = client.statuses(0, 0);
        REQUIRE(statuses.size() == 1);
        REQUIRE(statuses[0].error.has_value());
        CHECK(std::string(statuses[0].error->what())
                  .find("a.nc, variable u, record 4: this rank of the model has no memory for a "
                        "piece of 32 bytes (rank 1 of 2)") == 0);
    }
}

TEST_CASE("client: after different calls, pieces of later items wait for no credit") {
    Client client = client_of();
    static_cast<void>(client.add_collection("hourly", definition(8)));
    client.name_file(0, "a.nc");
    const std::vector<Piece> pieces{{{{0}, {8}}, 0}, {{{0}, {8}}, 1}, {{{0}, {8}}, 2}};
    client.put(0, 1, 0, pieces);  // the last one has no credit
    client.end(0, Ending::step);
    client.put(0, 1, 0, pieces);
    CHECK(!client.sent(0));
    client.receive(0, Disagreement{2, core::Error(core::Code::rank_mismatch, "different")});
    CHECK(!client.sent(0));  // of the step before
    CHECK(!client.settled(0, 0));
    client.receive(0, Credit{0, 64, {{0, std::nullopt}}});
    CHECK(client.sent(0));
    client.put(0, 1, 0, pieces);
    CHECK(client.sent(0));
    client.end(0, Ending::step);
    REQUIRE(client.settled(0, 0));
    const auto statuses = client.statuses(0, 0);
    REQUIRE(statuses.size() == 2);
    CHECK(!statuses[0].error.has_value());
    CHECK(std::string(statuses[1].error->what()) == "different");
}

TEST_CASE("client: it is a step ahead of a front end that sees more of its memory") {
    std::vector<Piece> half_step;  // pieces of 64 bytes
    for (std::uint64_t i = 0; i < 4; ++i) half_step.push_back({{{8 * i}, {8}}, i});
    for (const std::uint64_t shared : {0, 128, 192, 4096}) {
        INFO("shared ", shared);
        Client client({.slab_bytes = 64, .credit_bytes = 128, .shared_bytes = {shared}});
        static_cast<void>(client.add_collection("hourly", definition(32)));
        client.name_file(0, "a.nc");
        for (std::uint64_t step = 0; step < 2; ++step) {
            client.put(0, 1, 2 * step, half_step);
            client.put(0, 1, 2 * step + 1, half_step);
            const auto all = client.take();
            const auto data = std::count_if(all.begin(), all.end(), [](const Outgoing& one) {
                return std::holds_alternative<Data>(one.message);
            });
            const auto room =
                static_cast<std::ptrdiff_t>(std::max<std::uint64_t>(128, shared) / 64);
            CHECK(data == (step == 0 ? std::min<std::ptrdiff_t>(8, room) : 0));
            client.end(0, Ending::step);
        }
    }
}

TEST_CASE("front end: pieces that the transport lost or repeated are an error of their step") {
    for (const bool lose : {true, false}) {
        Client client = client_of();
        FrontEnd front_end({.credit_bytes = 128});
        static_cast<void>(client.add_collection("hourly", definition(8)));
        client.name_file(0, "a.nc");
        client.put(0, 1, 0, std::vector<Piece>{{{{0}, {4}}, 0}, {{{4}, {4}}, 1}});
        client.end(0, Ending::step);
        for (const Outgoing& one : client.take()) {
            const auto* data = std::get_if<Data>(&one.message);
            if (data != nullptr && data->seq == 1) {
                if (lose) continue;
                front_end.receive(0, one.message);
            }
            front_end.receive(0, one.message);
        }
        for (const Reply& reply : front_end.take_replies()) client.receive(0, reply.message);
        const auto events = front_end.take_events();
        const bool of_its_file = std::ranges::any_of(events, [](const Event& event) {
            const auto* dropped = std::get_if<Dropped>(&event);
            return dropped != nullptr && dropped->file_seq == 1;
        });
        CHECK(of_its_file);
        REQUIRE(client.settled(0, 0));
        const auto statuses = client.statuses(0, 0);
        REQUIRE(statuses.size() == 1);
        REQUIRE(statuses[0].error.has_value());
        CHECK(statuses[0].error->code() == core::Code::data_lost);
        INFO(statuses[0].error->what());
        CHECK(std::string(statuses[0].error->what())
                  .find("a.nc, item 1 of collection hourly: rank 0") == 0);
    }
}

TEST_CASE("front end: a rank with another layout is named to all") {
    FrontEnd front_end({.clients = 2, .layout_hash = 5});
    front_end.receive(0, Hello{2, 5});
    front_end.receive(1, Hello{2, 6});
    const auto replies = front_end.take_replies();
    REQUIRE(replies.size() == 2);
    const auto& told = std::get<Disagreement>(replies[0].message);
    CHECK(std::string(told.error.what()).find("rank 1 has another layout of the server") !=
          std::string::npos);
}

TEST_CASE("metadata goes to a server once, and from client 0 alone") {
    Client root = client_of(0, 2), other = client_of(1, 2);
    std::vector<std::size_t> bodies;
    for (Client* client : {&root, &other}) {
        static_cast<void>(client->add_collection("hourly", definition(8)));
        for (const char* file : {"a.nc", "b.nc"}) client->name_file(0, file);
        client->define(0, definition(8));
        client->name_file(0, "c.nc");
        Definition changed = definition(8);
        changed.hash = 4;
        client->define(0, changed);
        client->name_file(0, "d.nc");
        for (const Outgoing& one : client->take())
            if (const auto* meta = std::get_if<Meta>(&one.message))
                bodies.push_back(meta->body.size());
    }
    CHECK(bodies == std::vector<std::size_t>{1, 0, 0, 1, 0, 0, 0, 0});
}

TEST_CASE(
    "front end: a body that comes after another client went on to the next file is not lost") {
    FrontEnd front_end({.clients = 2});
    front_end.receive(1, Meta{.file_seq = 1});
    front_end.receive(1, Meta{.file_seq = 2});
    front_end.receive(0, Meta{.file_seq = 1, .body = {std::byte{1}}});
    std::vector<std::pair<std::uint64_t, std::size_t>> begun;
    for (const Event& event : front_end.take_events()) {
        const Meta& meta = std::get<FileBegins>(event).meta;
        begun.emplace_back(meta.file_seq, meta.body.size());
    }
    CHECK(begun == std::vector<std::pair<std::uint64_t, std::size_t>>{{1, 0}, {2, 0}, {1, 1}});
}

TEST_CASE("a list of puts is sent again only if it changed") {
    Client client = client_of();
    static_cast<void>(client.add_collection("hourly", definition(8)));
    client.name_file(0, "a.nc");
    for (const std::uint64_t field : {0, 0, 0, 1}) {
        client.put(0, field, 0, {});
        client.end(0, Ending::step);
    }
    std::vector<bool> texts;
    for (const Outgoing& one : client.take())
        if (const auto* call = std::get_if<Call>(&one.message))
            texts.push_back(call->text.has_value());
    CHECK(texts == std::vector<bool>{true, true, false, false, true});
}

TEST_CASE("10000 clients: one front end, messages per client do not depend on their number") {
    const std::uint64_t clients = 10000;
    FrontEnd front_end({.clients = clients, .credit_bytes = 1024});
    std::vector<Client> all;
    for (std::uint64_t client = 0; client < clients; ++client)
        all.push_back(
            Client({.client = client, .clients = clients, .slab_bytes = 64, .credit_bytes = 1024}));
    std::uint64_t to_servers = 0, to_clients = 0, accepted = 0;
    for (Client& one : all) {
        static_cast<void>(one.add_collection("hourly", definition(clients)));
        one.name_file(0, "a.nc");
        for (std::uint64_t step = 0; step < 3; ++step) {
            const std::uint64_t me = one.setup().client;
            one.put(0, 0, 0, std::vector<Piece>{{{{me, 0}, {1, 2}}, 0}});
            one.put(0, 1, 0, std::vector<Piece>{{{{me}, {1}}, 0}});
            one.end(0, Ending::step);
        }
        for (const Outgoing& message : one.take()) {
            ++to_servers;
            front_end.receive(one.setup().client, message.message);
        }
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (const Event& event : front_end.take_events()) {
            moved = true;
            accepted += std::holds_alternative<Accepted>(event) ? 1U : 0U;
            if (const auto* complete = std::get_if<Complete>(&event))
                front_end.written(complete->collection, complete->item, std::nullopt);
        }
    }
    for (const Reply& reply : front_end.take_replies()) {
        ++to_clients;
        all[reply.to].receive(0, reply.message);
    }
    CHECK(accepted == 6 * clients);
    CHECK(to_servers == (1 + 1 + 1 + 3 * 4) * clients);  // hello, call, meta; 2 data, end, call
    CHECK(to_clients == 3 * clients);
    for (Client& one : all) {
        CHECK(one.settled(0, 0));
        CHECK(one.statuses(0, 0).size() == 3);
    }
}

TEST_CASE("client: a server that is lost gets no new file, and its late word does not count") {
    Client client({.clients = 1, .servers = 2, .slab_bytes = 64, .credit_bytes = 128});
    static_cast<void>(client.add_collection("daily", definition(8)));
    const std::vector<Piece> piece{{{{0}, {8}}, 0}};
    const auto day = [&](const std::string& file) {
        client.name_file(0, file);
        client.put(0, 1, 0, piece);
        client.end(0, Ending::step);
        return client.state().collections[0].server;
    };
    CHECK(day("1.nc") == 0);
    CHECK(day("2.nc") == 1);
    CHECK(day("3.nc") == 0);
    CHECK(day("2.nc") == 1);  // it may still be at work on it
    client.gone(1, "has not moved for 300 s");
    const Client::Collection& daily = client.state().collections[0];
    const auto known = [&](const Client::Awaited& item) {
        return client.final_of(daily, item).has_value();
    };
    CHECK(std::count_if(daily.awaited.begin(), daily.awaited.end(), known) == 3);
    for (Item item = 0; item < 8; ++item) {
        client.receive(0, Credit{0, 0, {{item, std::nullopt}}});
        client.receive(1, Credit{0, 0, {{item, std::nullopt}}});
    }
    std::uint64_t lost = 0;
    for (const Status& status : client.statuses(0, 0)) lost += status.error ? 1U : 0U;
    CHECK(lost == 3);  // two steps of 2.nc, and its end
    for (const char* file : {"4.nc", "5.nc", "6.nc"}) CHECK(day(file) == 0);
}

TEST_CASE("client: a flush ends the file, and the next name does not end it again") {
    Client client = client_of();
    static_cast<void>(client.add_collection("daily", definition(8)));
    client.name_file(0, "1.nc");
    client.end(0, Ending::flush);
    client.name_file(0, "2.nc");
    CHECK(client.state().collections[0].awaited.size() == 1);
}
