// SPDX-License-Identifier: Apache-2.0
// Channels over MPI. A letter is one message; the body of a longer one follows at once on an MPI
// tag that the letter names, so that MPI moves it as soon as the receive is posted.
#include "comm/mpi_wire.hpp"

#include <sched.h>

#include <array>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/bytes.hpp"

namespace tailrace::comm {

namespace {

constexpr int letter_tag = 0;

/// What MPI reads from or writes to until its messages are done.
struct Flight {
    std::shared_ptr<Operation> operation;  // none: a letter
    std::vector<std::byte> packed;         // of a letter
    int messages = 0;                      // not done
    std::optional<core::Error> failure;
};

std::vector<std::byte> packed(const Letter& letter) {
    std::vector<std::byte> bytes;
    core::ByteWriter to(bytes);
    to.numbers(std::array{std::uint64_t{letter.goodbye} + std::uint64_t{letter.abrupt}, letter.tag,
                          letter.bytes, letter.number});
    to.bytes(letter.inside);
    return bytes;
}

Letter unpacked(int source, std::span<const std::byte> bytes) {
    core::ByteReader from(bytes);
    Letter letter;
    letter.source = source;
    const std::uint64_t kind = from.number();
    letter.goodbye = kind > 0;
    letter.abrupt = kind > 1;
    letter.tag = from.number();
    letter.bytes = from.number();
    letter.number = from.number();
    const auto inside = from.bytes(bytes.size() - 4 * sizeof(std::uint64_t));
    letter.inside.assign(inside.begin(), inside.end());
    return letter;
}

class MpiWire final : public Wire {
public:
    MpiWire(MPI_Comm parent, std::size_t largest_message) : x_largest_message(largest_message) {
        check(MPI_Comm_dup(parent, &x_comm), "MPI_Comm_dup");
        check(MPI_Comm_set_errhandler(x_comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check(MPI_Comm_rank(x_comm, &x_rank), "MPI_Comm_rank");
        check(MPI_Comm_size(x_comm, &x_size), "MPI_Comm_size");
        x_bodies.resize(static_cast<std::size_t>(x_size));
        int* greatest = nullptr;
        int found = 0;
        check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &found),
              "MPI_Comm_get_attr");
        if (found) x_tags = static_cast<std::uint64_t>(*greatest);
    }
    ~MpiWire() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (!finalized && x_comm != MPI_COMM_NULL) MPI_Comm_free(&x_comm);
    }
    MpiWire(const MpiWire&) = delete;
    MpiWire& operator=(const MpiWire&) = delete;

    [[nodiscard]] int rank() const noexcept override { return x_rank; }
    [[nodiscard]] int size() const noexcept override { return x_size; }
    [[nodiscard]] std::size_t longest_inside() const noexcept override {
        return std::min<std::size_t>(1024, x_largest_message);
    }

    void post(int to, Letter letter) override {
        throw_if_over();
        // Two messages of one tag on their way would need as many others between them as there
        // are tags, at least 32767.
        if (letter.body) letter.number = 1 + x_bodies[static_cast<std::size_t>(to)]++ % x_tags;
        const auto ahead = std::make_shared<Flight>();
        ahead->packed = packed(letter);
        check(MPI_Isend(ahead->packed.data(), static_cast<int>(ahead->packed.size()), MPI_BYTE, to,
                        letter_tag, x_comm, &request_of(ahead)),
              "MPI_Isend");
        if (!letter.body) return;
        const auto body = std::make_shared<Flight>();
        body->operation = letter.body;
        in_messages(letter.bytes, x_largest_message, [&](std::size_t begin, int bytes) {
            check(MPI_Isend(letter.body->from + begin, bytes, MPI_BYTE, to,
                            static_cast<int>(letter.number), x_comm, &request_of(body)),
                  "MPI_Isend");
        });
    }

    std::vector<Letter> collect() override {
        throw_if_over();
        advance();
        std::vector<Letter> letters;
        for (;;) {
            int here = 0, bytes = 0;
            MPI_Status status;
            check(MPI_Iprobe(MPI_ANY_SOURCE, letter_tag, x_comm, &here, &status), "MPI_Iprobe");
            if (!here) return letters;
            check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
            std::vector<std::byte> letter(static_cast<std::size_t>(bytes));
            check(MPI_Recv(letter.data(), bytes, MPI_BYTE, status.MPI_SOURCE, letter_tag, x_comm,
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
            letters.push_back(unpacked(status.MPI_SOURCE, letter));
        }
    }

    void fetch(const Letter& letter, const std::shared_ptr<Operation>& receive) override {
        const auto body = std::make_shared<Flight>();
        body->operation = receive;
        in_messages(letter.bytes, x_largest_message, [&](std::size_t begin, int bytes) {
            check(MPI_Irecv(receive->into + begin, bytes, MPI_BYTE, letter.source,
                            static_cast<int>(letter.number), x_comm, &request_of(body)),
                  "MPI_Irecv");
        });
    }

    [[nodiscard]] bool idle() const noexcept override { return x_requests.empty(); }

    void rest(Clock::duration waited, Clock::time_point until) override {
        nap(waited, std::min<Clock::duration>(std::chrono::milliseconds(1), until - Clock::now()));
    }

    void abandon(const std::vector<std::shared_ptr<Operation>>& open,
                 const core::Error& why) override {
        for (std::size_t i = 0; i < x_requests.size(); ++i) {
            if (std::ranges::find(open, x_flights[i]->operation) == open.end()) continue;
            if (x_flights[i]->operation->into != nullptr) MPI_Cancel(&x_requests[i]);
            keep(x_flights[i]);
            x_requests[i] = MPI_REQUEST_NULL;
        }
        forget_done();
        for (const auto& one : open) {
            keep(one->keep);
            one->end(why);
        }
    }

private:
    /// MPI takes no send back: what it may still read stays, and so does the communicator.
    void keep(std::shared_ptr<const void> memory) {
        static std::mutex mutex;
        static auto& kept = *new std::vector<std::shared_ptr<const void>>();
        const std::lock_guard lock(mutex);
        kept.push_back(std::move(memory));
        x_keeps = true;
    }

    /// A channel may outlive MPI in a program that ends in a hurry; MPI would end it with an abort.
    static void throw_if_over() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized)
            throw core::Error(core::Code::wrong_call, "MPI is finalized", "channel",
                              "close the channel before");
    }

    /// For one more message of a flight.
    MPI_Request& request_of(const std::shared_ptr<Flight>& flight) {
        ++flight->messages;
        x_flights.push_back(flight);
        return x_requests.emplace_back(MPI_REQUEST_NULL);
    }

    void forget_done() {
        std::size_t left = 0;
        for (std::size_t i = 0; i < x_requests.size(); ++i) {
            if (x_requests[i] == MPI_REQUEST_NULL) continue;
            x_requests[left] = x_requests[i];
            x_flights[left++] = x_flights[i];
        }
        x_requests.resize(left);
        x_flights.resize(left);
    }

    /// Ends what MPI has done.
    void advance() {
        if (x_requests.empty()) return;
        const int count = static_cast<int>(x_requests.size());
        std::vector<int> places(x_requests.size());
        std::vector<MPI_Status> statuses(x_requests.size());
        int done = 0;
        const int code =
            MPI_Testsome(count, x_requests.data(), &done, places.data(), statuses.data());
        if (code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
        for (int i = 0; i < (done == MPI_UNDEFINED ? 0 : done); ++i) {
            const auto place = static_cast<std::size_t>(places[static_cast<std::size_t>(i)]);
            const auto& flight = x_flights[place];
            if (code == MPI_ERR_IN_STATUS && !flight->failure)
                flight->failure = Comm::caught([&] {
                    check(statuses[static_cast<std::size_t>(i)].MPI_ERROR, "MPI_Testsome",
                          "channel");
                });
            if (--flight->messages == 0 && flight->operation)
                flight->operation->end(flight->failure);
        }
        forget_done();
    }

    MPI_Comm x_comm = MPI_COMM_NULL;
    std::size_t x_largest_message;
    int x_rank = 0;
    int x_size = 1;
    bool x_keeps = false;                 // memory for MPI, for good
    std::uint64_t x_tags = 32767;         // for bodies: from 1
    std::vector<std::uint64_t> x_bodies;  // sent to each rank
    std::vector<MPI_Request> x_requests;  // of the flight in the same place
    std::vector<std::shared_ptr<Flight>> x_flights;
};

}  // namespace

std::unique_ptr<Wire> open_mpi_wire(MPI_Comm parent, std::size_t largest_message) {
    return std::make_unique<MpiWire>(parent, largest_message);
}

void nap(Clock::duration waited, Clock::duration longest) {
    constexpr std::chrono::nanoseconds message = std::chrono::milliseconds(1),
                                       shortest = std::chrono::microseconds(50);
    if (waited < message)
        ::sched_yield();
    else
        std::this_thread::sleep_for(std::min(std::max(waited / 16, shortest), longest));
}

}  // namespace tailrace::comm
