// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/splitmix.hpp"

namespace tailrace::test {

using namespace server;

namespace {

constexpr const char* names[] = {"calls",
                                 "hears from server",
                                 "gets from client",
                                 "writes for",
                                 "dies",
                                 "(a server) dies",
                                 "loses its last to server",
                                 "loses the last to client",
                                 "is missed by server",
                                 "(a server) is missed by client"};

std::uint64_t elements_before(std::uint64_t client, std::uint64_t clients, std::uint64_t all) {
    return all / clients * client;
}

}  // namespace

World::World(const Setting& setting) : x_setting(&setting) {
    const std::size_t clients = setting.scripts.size(), servers = setting.servers;
    for (std::uint64_t client = 0; client < clients; ++client)
        x_clients.emplace_back(ClientSetup{.client = client,
                                           .clients = clients,
                                           .servers = servers,
                                           .layout_hash = 7,
                                           .slab_bytes = setting.slab_bytes,
                                           .credit_bytes = setting.credit_bytes,
                                           .depth = setting.depth});
    for (std::uint64_t server = 0; server < servers; ++server)
        x_servers.emplace_back(FrontEndSetup{.server = server,
                                             .clients = clients,
                                             .layout_hash = 7,
                                             .credit_bytes = setting.credit_bytes});
    x_up.assign(clients, std::vector<std::deque<Message>>(servers));
    x_down = x_up;
    x_op.resize(clients);
    x_begun.resize(clients);
    x_dead.resize(clients);
    x_dead_servers.resize(servers);
    x_noticed.assign(clients, std::vector<bool>(servers));
    x_noticed_servers = x_noticed;
    x_heard.resize(clients);
    x_writing.resize(servers);
    for (std::uint64_t client = 0; client < clients; ++client) send(client);
    for (std::uint64_t client = 0; client < clients; ++client) go_on(client);
}

void World::go_on(std::uint64_t client) {
    while (x_setting->lazy && ready(client)) call(client);
}

bool World::ready(std::uint64_t client) const {
    if (x_dead[client] || finished(client)) return false;
    const Op& op = x_setting->scripts[client][x_op[client]];
    const Client& one = x_clients[client];
    if (!x_begun[client] && op.kind == Op::detach) {
        for (std::uint64_t c = 0; c < one.state().collections.size(); ++c)
            if (!one.settled(c, 0)) return false;
        return true;
    }
    if (!x_begun[client]) return true;
    switch (op.kind) {
        case Op::put:
            return one.sent(op.collection);
        case Op::step:
            return one.settled(op.collection, x_setting->depth);
        case Op::close:
        case Op::flush:
            return one.settled(op.collection, 0);
        case Op::detach:
            return one.left();
        default:
            return true;
    }
}

std::vector<Move> World::moves() const {
    std::vector<Move> all;
    const auto deaths =
        static_cast<std::uint64_t>(std::count(x_dead.begin(), x_dead.end(), true) +
                                   std::count(x_dead_servers.begin(), x_dead_servers.end(), true));
    const bool may_die = deaths < x_setting->most_deaths;
    for (std::uint64_t client = 0; client < x_clients.size(); ++client) {
        if (ready(client)) all.push_back({Move::call, client});
        if (may_die && x_setting->mortal_clients.contains(client) && !x_dead[client] &&
            !finished(client))
            all.push_back({Move::kill_client, client});
        for (std::uint64_t server = 0; server < x_servers.size(); ++server) {
            const auto &up = x_up[client][server], &down = x_down[client][server];
            if (!down.empty() && !x_dead[client]) {
                if (!x_setting->lazy || !ready(client))
                    all.push_back({Move::arrive_at_client, client, server});
                if (x_dead_servers[server]) all.push_back({Move::lose_reply, server, client});
            }
            if (!up.empty() && !x_dead_servers[server]) {
                all.push_back({Move::arrive_at_server, server, client});
                if (x_dead[client]) all.push_back({Move::lose, client, server});
            }
            if (x_dead[client] && up.empty() && !x_noticed[client][server] &&
                !x_dead_servers[server])
                all.push_back({Move::notice_client, client, server});
            if (x_dead_servers[server] && down.empty() && !x_noticed_servers[client][server] &&
                !x_dead[client])
                all.push_back({Move::notice_server, server, client});
        }
    }
    for (std::uint64_t server = 0; server < x_servers.size(); ++server) {
        if (!x_writing[server].empty() && !x_dead_servers[server])
            all.push_back({Move::write, server});
        if (may_die && x_setting->mortal_servers.contains(server) && !x_dead_servers[server])
            all.push_back({Move::kill_server, server});
    }
    return all;
}

void World::send(std::uint64_t client) {
    for (Outgoing& one : x_clients[client].take()) {
        if (const auto* data = std::get_if<Data>(&one.message))
            x_sent[{data->collection, data->item}].emplace(client, data->seq);
        if (!x_dead_servers[one.to]) x_up[client][one.to].push_back(std::move(one.message));
    }
}

void World::begin(std::uint64_t client, const Op& op) {
    Client& one = x_clients[client];
    switch (op.kind) {
        case Op::add:
            one.add_collection(op.name, x_setting->define(client, op.collection));
            break;
        case Op::file:
            one.name_file(op.collection, op.name);
            break;
        case Op::put: {
            const core::Extents extents =
                x_setting->define(client, op.collection).fields[op.field].extents;
            std::uint64_t at = elements_before(client, x_clients.size(), extents[0]);
            std::vector<Piece> pieces;
            for (const std::uint64_t count : op.pieces) {
                pieces.push_back({{{at}, {count}}, 0});
                at += count;
            }
            one.put(op.collection, op.field, 0, pieces);
            break;
        }
        case Op::step:
            one.end(op.collection, Ending::step);
            break;
        case Op::close:
            one.end(op.collection, Ending::close_file);
            break;
        case Op::flush:
            one.end(op.collection, Ending::flush);
            break;
        case Op::detach:
            for (std::uint64_t c = 0; c < one.state().collections.size(); ++c) hear(client, c, 0);
            one.detach();
            break;
    }
}

void World::hear(std::uint64_t client, std::uint64_t collection, std::uint64_t keep) {
    for (const Status& status : x_clients[client].statuses(collection, keep))
        x_heard[client].push_back({x_op[client], collection, status.item,
                                   status.error ? std::string(status.error->what()) : ""});
}

/// Makes the next call, or ends the one that waited; a call that need not wait ends at once.
void World::call(std::uint64_t client) {
    const Op& op = x_setting->scripts[client][x_op[client]];
    if (!x_begun[client]) {
        begin(client, op);
        x_begun[client] = true;
        send(client);
        if (!ready(client)) return;
    }
    if (op.kind == Op::step) hear(client, op.collection, x_setting->depth);
    if (op.kind == Op::close || op.kind == Op::flush) hear(client, op.collection, 0);
    if (op.kind == Op::detach)
        if (const auto error = x_clients[client].farewell())
            x_heard[client].push_back({x_op[client], no_collection, 0, error->what()});
    x_begun[client] = false;
    ++x_op[client];
    send(client);
    if (finished(client)) x_down[client].assign(x_servers.size(), {});
}

/// What a front end asks of the stage behind it, and what it tells the clients.
void World::work(std::uint64_t server) {
    for (Event& event : x_servers[server].take_events()) {
        if (const auto* accepted = std::get_if<Accepted>(&event))
            x_accepted[{accepted->data.collection, accepted->data.item}].emplace(
                accepted->client, accepted->data.seq);
        if (const auto* dropped = std::get_if<Dropped>(&event))
            x_accepted.erase({dropped->collection, dropped->item});
        if (const auto* complete = std::get_if<Complete>(&event)) {
            const Place place{complete->collection, complete->item};
            if (x_accepted[place] != x_sent[place])
                x_problem = "item " + std::to_string(complete->item) + " of collection " +
                            std::to_string(complete->collection) + " is not what was sent";
            x_writing[server].push_back(*complete);
        }
    }
    for (Reply& reply : x_servers[server].take_replies())
        if (!x_dead[reply.to] && !finished(reply.to))
            x_down[reply.to][server].push_back(std::move(reply.message));
}

void World::make(const Move& move) {
    switch (move.kind) {
        case Move::call:
            call(move.a);
            break;
        case Move::arrive_at_client: {
            auto& channel = x_down[move.a][move.b];
            x_clients[move.a].receive(move.b, channel.front());
            channel.pop_front();
            send(move.a);
            go_on(move.a);
            break;
        }
        case Move::arrive_at_server: {
            auto& channel = x_up[move.b][move.a];
            x_servers[move.a].receive(move.b, channel.front());
            channel.pop_front();
            work(move.a);
            break;
        }
        case Move::write: {
            const Complete item = x_writing[move.a].front();
            x_writing[move.a].pop_front();
            const Place place{item.collection, item.item};
            if (!x_written.insert(place).second) x_problem = "an item was written twice";
            std::optional<core::Error> error;
            if (x_setting->unwritable.contains(place))
                error = core::Error(core::Code::no_space, "the disk is full");
            x_servers[move.a].written(item.collection, item.item, error);
            work(move.a);
            break;
        }
        case Move::kill_client:
            x_dead[move.a] = true;
            x_down[move.a].assign(x_servers.size(), {});
            break;
        case Move::kill_server:
            x_dead_servers[move.a] = true;
            for (auto& channels : x_up) channels[move.a].clear();
            break;
        case Move::lose:
            x_up[move.a][move.b].pop_back();
            break;
        case Move::lose_reply:
            x_down[move.b][move.a].pop_back();
            break;
        case Move::notice_client:
            x_noticed[move.a][move.b] = true;
            x_servers[move.b].gone(move.a);
            work(move.b);
            break;
        case Move::notice_server:
            x_noticed_servers[move.b][move.a] = true;
            x_clients[move.b].gone(move.a);
            send(move.b);
            go_on(move.b);
            break;
    }
}

/// Pieces between a client and the next stage of a front end, per collection.
std::string World::problem_of_credit(std::uint64_t client, std::uint64_t server) const {
    std::map<std::uint64_t, std::uint64_t> under_way;
    const auto count = [&under_way](const Message& message) {
        if (const auto* data = std::get_if<Data>(&message))
            under_way[data->collection] += data->payload_bytes;
    };
    for (const Message& message : x_up[client][server]) count(message);
    for (const auto& [number, one] : x_servers[server].state().collections)
        for (const Message& message : one.lines[client].parked) count(message);
    for (const auto& [collection, bytes] : under_way)
        if (bytes > x_setting->credit_bytes) return "more is under way than there is credit";
    return "";
}

std::string World::problem() const {
    if (!x_problem.empty()) return x_problem;
    for (std::uint64_t server = 0; server < x_servers.size(); ++server) {
        for (const auto& [number, one] : x_servers[server].state().collections)
            if (one.queue.used() > one.queue.limit()) return "a queue holds more than its limit";
        for (std::uint64_t client = 0; client < x_clients.size(); ++client)
            if (auto text = problem_of_credit(client, server); !text.empty()) return text;
    }
    return "";
}

std::string World::problem_at_the_end() const {
    std::vector<std::uint64_t> alive;
    for (std::uint64_t client = 0; client < x_clients.size(); ++client) {
        if (x_dead[client]) continue;
        alive.push_back(client);
        if (!finished(client))
            return "client " + std::to_string(client) + " waits for ever in call " +
                   std::to_string(x_op[client]);
    }
    for (std::uint64_t server = 0; server < x_servers.size(); ++server)
        if (!x_dead_servers[server] && !x_servers[server].done())
            return "front end " + std::to_string(server) + " never ends";
    for (const std::uint64_t client : alive)
        for (const Heard& heard : x_heard[client])
            if (heard.collection != no_collection &&
                heard.error.empty() !=
                    (x_written.contains({heard.collection, heard.item}) &&
                     !x_setting->unwritable.contains({heard.collection, heard.item})) &&
                heard.error.find("it is not known what became") == std::string::npos)
                return "client " + std::to_string(client) + " heard \"" + heard.error +
                       "\" of item " + std::to_string(heard.item) + ", which is not so";
    return "";
}

namespace {

/// The parts of a state one behind the other.
class Digest {
public:
    void operator()(const auto&... values) { (add(values), ...); }
    [[nodiscard]] std::uint64_t value() const { return x_value; }

private:
    void add(std::uint64_t value) { x_value = core::mixed(x_value ^ value) + core::splitmix_step; }
    void add(bool value) { add(std::uint64_t{value}); }
    template <class T>
    requires std::is_enum_v<T>
    void add(T value) { add(static_cast<std::uint64_t>(value)); }
    void add(const std::string& text) { add(std::uint64_t{std::hash<std::string>{}(text)}); }
    template <class... T>
    void add(const std::tuple<T...>& all) {
        std::apply([this](const auto&... one) { (add(one), ...); }, all);
    }
    template <class A, class B>
    void add(const std::pair<A, B>& both) {
        (*this)(both.first, both.second);
    }
    void add(const Data& d) { (*this)(d.collection, d.item, d.field, d.seq, d.place.offset); }
    void add(const End& e) { (*this)(e.kind, e.collection, e.item, e.messages, e.call_hash); }
    void add(const Credit& c) { (*this)(c.collection, c.bytes, c.statuses); }
    void add(const Disagreement& d) { (*this)(d.call, d.error); }
    void add(const Meta& m) { (*this)(m.collection, m.file_seq, m.file, m.meta_hash); }
    void add(const Hello&) {}
    void add(const CallText& t) { (*this)(t.collection, t.file, t.puts); }
    void add(const Call& c) {
        (*this)(c.call, c.kind, c.collection, c.item, c.server, c.meta_hash, c.text_hash, c.text);
    }
    void add(const Message& m) {
        add(std::uint64_t{m.index()});
        std::visit([this](const auto& one) { add(one); }, m);
    }
    template <class T>
    void add(const std::optional<T>& value) {
        add(value.has_value());
        if (value) add(*value);
    }
    void add(const core::Error& error) { add(std::string(error.what())); }
    void add(const Status& s) { (*this)(s.item, s.error); }
    void add(const Heard& h) { (*this)(std::uint64_t{h.op}, h.collection, h.item, h.error); }
    void add(const PutCall& p) { (*this)(p.variable, p.definition); }
    void add(const Complete& c) { (*this)(c.collection, c.item); }
    void add(const Outgoing& o) { (*this)(o.to, o.message); }
    void add(const Client::Awaited& a) { (*this)(a.item, a.kind, a.call, a.server, a.final); }
    void add(const Client::Collection& c) {
        (*this)(c.file, c.open, c.file_seq, c.server, c.item, c.messages, c.load, c.puts,
                c.last_text, c.ahead, c.credit, c.known, c.waiting, c.awaited);
    }
    void add(const Client& client) {
        const Client::State& s = client.state();
        (*this)(s.collections, s.load, s.files, s.gone, s.calls, s.call_hash, s.detached,
                s.farewell, s.disagreement.has_value());
        if (s.disagreement) add(*s.disagreement);
    }
    void add(const Agreement::Same& s) { (*this)(s.call, s.lowest, s.clients); }
    void add(const Agreement::Row& r) { (*this)(r.missing, r.groups); }
    void add(const FrontEnd::Open& o) {
        (*this)(o.missing, o.kind, o.records, o.meta_hash, o.call_hash, o.error, o.disputed,
                o.handed);
    }
    void add(const FrontEnd::Line& l) {
        (*this)(l.parked, l.last_ended, l.item, l.messages, l.bytes, l.owed);
    }
    void add(const FrontEnd::Collection& c) {
        (*this)(c.queue.used(), c.queue.limit(), c.begun, c.items, c.lines);
    }
    void add(const FrontEnd& server) {
        const FrontEnd::State& s = server.state();
        (*this)(s.collections, s.gone, s.detached, s.agreement.state().made,
                s.agreement.state().rows, s.agreement.state().broken, s.farewell);
    }
    template <class T>
    requires requires(const T& all) { all.begin(), all.size(); }
    void add(const T& all) {
        add(std::uint64_t{all.size()});
        for (const auto& one : all) add(one);
    }

    std::uint64_t x_value = 0;
};

struct Node {
    std::size_t before = 0;
    Move move{};
};

std::string path_to(const std::vector<Node>& nodes, std::size_t node) {
    std::vector<std::string> path;
    for (; node != 0; node = nodes[node].before) {
        const Move& move = nodes[node].move;
        path.push_back(std::to_string(move.a) + " " + names[move.kind] + " " +
                       std::to_string(move.b));
    }
    std::string text;
    for (auto one = path.rbegin(); one != path.rend(); ++one) text += "\n    " + *one;
    return text;
}

}  // namespace

std::uint64_t World::digest() const {
    Digest digest;
    digest(x_clients, x_servers, x_up, x_down, std::vector<std::uint64_t>(x_op.begin(), x_op.end()),
           x_begun, x_dead, x_dead_servers, x_noticed, x_noticed_servers, x_heard, x_writing,
           x_sent, x_accepted, x_written);
    return digest.value();
}

Explored explore(const Setting& setting,
                 const std::function<std::string(const World&)>& at_the_end) {
    Explored found;
    std::unordered_set<std::uint64_t> seen;
    std::vector<Node> nodes(1);
    std::vector<std::pair<World, std::size_t>> open;
    open.emplace_back(World(setting), 0);
    seen.insert(open.back().first.digest());
    while (!open.empty()) {
        const auto [world, node] = std::move(open.back());
        open.pop_back();
        ++found.states;
        const std::vector<Move> moves = world.moves();
        std::string problem = world.problem();
        if (moves.empty() && problem.empty()) {
            ++found.ends;
            problem = world.problem_at_the_end();
            if (problem.empty() && at_the_end) problem = at_the_end(world);
        }
        if (!problem.empty()) {
            found.problem = problem + ", after" + path_to(nodes, node);
            return found;
        }
        for (const Move& move : moves) {
            World next = world;
            next.make(move);
            if (!seen.insert(next.digest()).second) continue;
            nodes.push_back({node, move});
            open.emplace_back(std::move(next), nodes.size() - 1);
        }
    }
    return found;
}

}  // namespace tailrace::test
