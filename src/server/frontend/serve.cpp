// SPDX-License-Identifier: Apache-2.0
#include "server/frontend/serve.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "server/frontend/counters.hpp"
#include "server/frontend/writer_thread.hpp"

namespace tailrace::server {

class Server::Impl {
public:
    Impl(comm::Channel& channel, const FrontEndSetup& setup, WriteWork write, Writing how,
         Neighbours neighbours)
        : x_channel(channel),
          x_neighbours(std::move(neighbours)),
          x_machine(setup),
          x_spare(x_buffers.take(spare_bytes(setup))),
          x_counters(setup.server),
          x_write(std::move(write)) {
        if (how == Writing::beside) x_thread.emplace();
        for (std::uint64_t client = 0; client < setup.clients; ++client)
            x_lives.push_back(channel.receive(static_cast<int>(client), life, {}));
    }

    bool move_on() {
        bool moved = false;
        beat();
        std::vector<std::size_t> left;  // all that they sent is here
        for (std::size_t client = 0; client < x_lives.size(); ++client)
            if (x_lives[client].done()) left.push_back(client);
        while (const auto message = x_channel.probe(to_front_end)) {
            take(*message);
            moved = true;
        }
        for (const Done& one : x_thread ? x_thread->take() : std::vector<Done>{}) {
            if (one.item != no_item) ended(one);
            work();
            moved = true;
        }
        for (const std::size_t client : left) {
            x_lives[client] = {};
            x_machine.gone(client);
            work();
            moved = true;
        }
        return moved;
    }
    [[nodiscard]] bool done() const { return x_machine.done(); }
    void run() {
        while (!done()) x_channel.wait_until([this] { return move_on() || done(); });
    }

private:
    static constexpr Item no_item = ~Item{0};  // a task without a status
    static constexpr std::chrono::milliseconds beat_slice{100};
    /// The longest piece, unless somebody allows huge ones, and what stands before it.
    static std::uint64_t spare_bytes(const FrontEndSetup& setup) {
        constexpr std::uint64_t mib = std::uint64_t{1} << 20;
        return std::min(setup.credit_bytes / 2, 64 * mib) + mib;
    }
    using Line = std::pair<std::uint64_t, std::uint64_t>;  // client, collection
    using Step = std::pair<std::uint64_t, Item>;           // collection, item
    struct Payload {
        Buffers::Memory message;  // none: in a slot
        std::span<const std::byte> elements;
    };
    struct Files {
        std::map<std::uint64_t, std::shared_ptr<const Meta>> by_number;
        std::shared_ptr<const Meta> last_with_body = std::make_shared<Meta>();
    };
    struct Fields {
        std::map<FrontEnd::Record, Slab> slabs;
        std::optional<core::Error> error;
    };

    void take(const comm::Message& message) {
        const auto [memory, short_of_memory] = memory_for(message);
        const std::span bytes(memory.get(), static_cast<std::size_t>(message.bytes));
        comm::Pending body = x_channel.receive(message.rank, to_front_end, bytes);
        // Some transports move it only within the sender's next call of MPI.
        while (!x_channel.wait_until([&] { return x_channel.test(body); }, beat_slice)) beat();
        static_cast<void>(body.message());  // or its error
        auto [decoded, elements] = decode(bytes);
        const auto client = static_cast<std::uint64_t>(message.rank);
        if (auto* data = std::get_if<Data>(&decoded)) {
            if (short_of_memory && !elements.empty()) data->lost = no_memory(*data);
            x_payloads[{client, data->collection}].push_back(
                data->lost   ? Payload{}
                : data->slot ? Payload{{}, in_slot(message.rank, *data)}
                             : Payload{memory, elements});
        }
        x_machine.receive(client, decoded);
        x_counters.received(x_machine.state());
        work();
    }

    /// And whether that is the memory of last resort, which the next message needs too.
    [[nodiscard]] std::pair<Buffers::Memory, bool> memory_for(const comm::Message& message) const {
        try {
            return {x_buffers.take(message.bytes), false};
        } catch (const std::bad_alloc&) {
            if (message.bytes > spare_bytes(x_machine.setup())) throw;
            return {x_spare, true};
        }
    }

    [[nodiscard]] core::Error seen_here(const core::Error& error) const {
        return error.seen_by(x_channel.rank(), 1, x_channel.size());
    }

    [[nodiscard]] core::Error no_memory(const Data& data) {
        return seen_here(core::Error(
            core::Code::no_space,
            "the server has no memory for a piece of " + core::bytes_text(data.payload_bytes),
            place_of(data), memory_remedy));
    }

    /// A sign of life, unless the writer is stuck. That of before a long computation lies unread.
    void beat() {
        const auto now = comm::Clock::now();
        const double every = x_machine.setup().beat_s;
        if (every <= 0 || std::chrono::duration<double>(now - x_beaten).count() < every) return;
        x_beaten = now;
        if (x_thread && !x_thread->moves()) return;
        const auto bytes = std::make_shared<std::vector<std::byte>>(encode(Credit{}));
        for (std::uint64_t client = 0; client < x_lives.size(); ++client)
            if (!x_machine.state().gone[client])
                x_channel.send(static_cast<int>(client), to_client, *bytes, bytes);
    }

    /// The message was received, so what its sender wrote before is seen here.
    [[nodiscard]] std::span<const std::byte> in_slot(int client, const Data& data) const {
        const std::span<const std::byte> part = x_neighbours.part(client);
        if (*data.slot > part.size() || data.payload_bytes > part.size() - *data.slot)
            throw damaged("its slot lies outside of the memory of rank " + std::to_string(client));
        return part.subspan(*data.slot, data.payload_bytes);
    }

    /// Until neither the machine nor the writer has anything to say.
    void work() {
        for (auto events = x_machine.take_events(); !events.empty();
             events = x_machine.take_events())
            for (const Event& event : events)
                std::visit([this](const auto& one) { handle(one); }, event);
        for (const Reply& reply : x_machine.take_replies()) {
            const auto bytes = std::make_shared<std::vector<std::byte>>(encode(reply.message));
            x_counters.sent();
            x_channel.send(static_cast<int>(reply.to), to_client, *bytes, bytes);
        }
    }

    /// Clients may be at different files; a body is sent once for all files that have it.
    void handle(const FileBegins& begins) {
        Files& files = x_files[begins.meta.collection];
        const auto begun = std::make_shared<const Meta>(begins.meta);
        if (!begun->body.empty()) files.last_with_body = begun;
        files.by_number.insert_or_assign(begun->file_seq, begun);
        for (auto& [number, meta] : files.by_number)
            if (meta->body.empty() && meta->meta_hash == files.last_with_body->meta_hash) {
                Meta whole = *meta;
                whole.body = files.last_with_body->body;
                meta = std::make_shared<const Meta>(std::move(whole));
            }
    }

    void handle(const Accepted& accepted) {
        const Data& data = accepted.data;
        x_counters.data(data.collection, data.file_seq);
        const Payload payload = next({accepted.client, data.collection});
        Fields& fields = x_steps[{data.collection, data.item}];
        try {
            const auto [slab, is_new] =
                fields.slabs.try_emplace({data.file_seq, data.field, data.record}, data.extents,
                                         data.element_bytes, place_of(data), x_buffers);
            slab->second.place(data.place, payload.elements);
        } catch (const core::Error& error) {
            if (!fields.error)
                fields.error = error.code() == core::Code::no_space
                                   ? seen_here(error)
                                   : error.seen_by(static_cast<int>(accepted.client), 1,
                                                   static_cast<int>(x_lives.size()));
        }
    }

    void handle(const Discarded& discarded) { next({discarded.client, discarded.data.collection}); }

    void handle(const Dropped& dropped) {
        x_steps.erase({dropped.collection, dropped.item});
        give_up({dropped.collection, dropped.file_seq, dropped.item, Ending::step},
                dropped.error.value_or(core::Error(core::Code::rank_mismatch,
                                                   "ranks made different calls for a step of it")));
    }

    [[nodiscard]] std::string place_of(const Data& data) {
        return place_text(about(data.collection, data.file_seq)->file, data.variable, data.record);
    }

    /// Empty if no file of that number was named.
    [[nodiscard]] std::shared_ptr<const Meta> about(std::uint64_t collection,
                                                    std::uint64_t file_seq) {
        const auto& files = x_files[collection].by_number;
        const auto found = files.find(file_seq);
        return found == files.end() ? std::make_shared<const Meta>() : found->second;
    }

    /// A file that lacks a step does not get its name. The writer hears it in the order of items.
    void give_up(const Complete& item, const core::Error& error) {
        const auto work = std::make_shared<Work>();
        work->file = about(item.collection, item.file_seq);
        if (work->file->collection_name.empty())
            work->file = x_files[item.collection].last_with_body;
        work->item = item;
        work->lost = error;
        if (x_thread)
            return x_thread->post(item.collection, no_item, [this, work] { x_write(*work); });
        try {
            x_write(*work);
        } catch (const core::Error&) {  // the status of the item says more
        }
    }

    void handle(const Complete& item) {
        auto step = x_steps.extract({item.collection, item.item});
        Fields fields = step.empty() ? Fields{} : std::move(step.mapped());
        if (fields.error) {
            give_up(item, *fields.error);
            x_machine.written(item.collection, item.item, fields.error);
            return;
        }
        Files& files = x_files[item.collection];  // items are complete in order
        files.by_number.erase(files.by_number.begin(), files.by_number.lower_bound(item.file_seq));
        const auto work = std::make_shared<Work>();
        work->file = about(item.collection, item.file_seq);
        work->item = item;
        for (auto& [record, slab] : fields.slabs)
            work->fields.push_back({std::get<1>(record), std::get<2>(record), std::move(slab)});
        if (x_thread)
            return x_thread->post(item.collection, item.item, [this, work] { x_write(*work); });
        try {
            x_write(*work);
        } catch (const core::Error& error) {
            fields.error = error;
        }
        ended({item.collection, item.item, fields.error, core::now_s()});
    }

    void ended(const Done& one) {
        const auto& item = x_machine.state().collections.at(one.collection).items.at(one.item);
        x_machine.written(one.collection, one.item, one.error,
                          x_counters.tell(one.collection, item, one.ended_s));
    }

    Payload next(const Line& line) {
        std::deque<Payload>& all = x_payloads[line];
        Payload first = std::move(all.front());
        all.pop_front();
        return first;
    }

    comm::Channel& x_channel;
    Neighbours x_neighbours;
    Buffers x_buffers;
    FrontEnd x_machine;
    Buffers::Memory x_spare;  // no page of it is touched as long as there is other memory
    Counters x_counters;
    WriteWork x_write;
    std::vector<comm::Pending> x_lives;  // end when their client goes
    std::map<Line, std::deque<Payload>> x_payloads;
    std::map<std::uint64_t, Files> x_files;  // per collection
    std::map<Step, Fields> x_steps;
    comm::Clock::time_point x_beaten = comm::Clock::now();
    std::optional<WriterThread> x_thread;  // last: it uses the others
};

Server::Server(comm::Channel& channel, const FrontEndSetup& setup, WriteWork write, Writing how,
               Neighbours neighbours)
    : x_impl(std::make_unique<Impl>(channel, setup, std::move(write), how, std::move(neighbours))) {
}

Server::~Server() = default;

bool Server::move_on() { return x_impl->move_on(); }

bool Server::done() const { return x_impl->done(); }

void Server::run() { x_impl->run(); }

void serve(comm::Channel& channel, const FrontEndSetup& setup, const WriteWork& write,
           Neighbours neighbours) {
    Server(channel, setup, write, Writing::beside, std::move(neighbours)).run();
}

}  // namespace tailrace::server
