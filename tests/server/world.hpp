// SPDX-License-Identifier: Apache-2.0
// A small server with its clients, channels and writers as one value, and all orders in which it
// can go on. Nothing of it runs at the same time: a move is a call of one rank, the arrival of one
// message, or the end of one writer.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/protocol/client.hpp"
#include "server/protocol/front_end.hpp"

namespace tailrace::test {

/// What a rank of the model does, one after the other.
struct Op {
    enum Kind { add, file, put, step, close, flush, detach } kind = put;
    std::uint64_t collection = 0;
    std::string name{};                    ///< of a file or collection
    std::uint64_t field = 0;               ///< to put
    std::vector<std::uint64_t> pieces{1};  ///< elements of each, this rank's part in order
};
using Script = std::vector<Op>;

struct Setting {
    std::vector<Script> scripts;  ///< per client
    std::uint64_t servers = 1;
    std::uint64_t slab_bytes = 1, credit_bytes = 2, depth = 1;
    /// What each client defines; per collection.
    std::function<server::Definition(std::uint64_t client, std::uint64_t collection)> define;
    std::set<std::pair<std::uint64_t, server::Item>> unwritable{};  ///< collection, item
    std::set<std::uint64_t> mortal_clients{}, mortal_servers{};
    std::uint64_t most_deaths = 1;
    /// Clients look at messages only while they wait, and go on until they do: far fewer states,
    /// and nothing is left out that a slower arrival does not show, but news that come early.
    bool lazy = true;
};

struct Move {
    enum Kind {
        call,
        arrive_at_client,
        arrive_at_server,
        write,
        kill_client,
        kill_server,
        lose,
        lose_reply,
        notice_client,
        notice_server
    } kind;
    std::uint64_t a = 0, b = 0;
};

/// What one client heard of an item.
struct Heard {
    std::size_t op = 0;
    std::uint64_t collection = 0;
    server::Item item = 0;
    std::string error{};  ///< empty: written
    friend auto operator<=>(const Heard&, const Heard&) = default;
};

class World {
public:
    explicit World(const Setting& setting);
    [[nodiscard]] std::vector<Move> moves() const;
    void make(const Move& move);
    /// A text of what is wrong now; empty: nothing.
    [[nodiscard]] std::string problem() const;
    /// The same where no move is left.
    [[nodiscard]] std::string problem_at_the_end() const;
    /// Equal for equal states.
    [[nodiscard]] std::uint64_t digest() const;
    [[nodiscard]] const std::vector<Heard>& heard(std::uint64_t client) const {
        return x_heard[client];
    }
    [[nodiscard]] bool dead(std::uint64_t client) const { return x_dead[client]; }
    [[nodiscard]] bool finished(std::uint64_t client) const {
        return x_op[client] == x_setting->scripts[client].size();
    }

private:
    using Pieces = std::multiset<std::pair<std::uint64_t, std::uint64_t>>;  // client, seq
    using Place = std::pair<std::uint64_t, server::Item>;                   // collection, item
    [[nodiscard]] bool ready(std::uint64_t client) const;
    void call(std::uint64_t client);
    void go_on(std::uint64_t client);
    void begin(std::uint64_t client, const Op& op);
    void hear(std::uint64_t client, std::uint64_t collection, std::uint64_t keep);
    void send(std::uint64_t client);
    void work(std::uint64_t server);
    [[nodiscard]] std::string problem_of_credit(std::uint64_t client, std::uint64_t server) const;

    const Setting* x_setting;
    std::vector<server::Client> x_clients;
    std::vector<server::FrontEnd> x_servers;
    std::vector<std::vector<std::deque<server::Message>>> x_up, x_down;  // [client][server]
    std::vector<std::size_t> x_op;
    std::vector<bool> x_begun;  // the call was made and waits
    std::vector<bool> x_dead, x_dead_servers;
    std::vector<std::vector<bool>> x_noticed, x_noticed_servers;  // [client][server]
    std::vector<std::vector<Heard>> x_heard;
    std::vector<std::deque<server::Complete>> x_writing;  // per server
    std::map<Place, Pieces> x_sent, x_accepted;
    std::set<Place> x_written;
    std::string x_problem;
};

/// Every order, each state once.
struct Explored {
    std::uint64_t states = 0, ends = 0;
    std::string problem{};  ///< with the moves that lead there
};
[[nodiscard]] Explored explore(const Setting& setting,
                               const std::function<std::string(const World&)>& at_the_end = {});

}  // namespace tailrace::test
