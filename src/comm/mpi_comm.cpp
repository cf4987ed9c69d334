// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_comm.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "comm/handle.hpp"
#include "comm/mpi_wire.hpp"

namespace tailrace::comm {

namespace {

MPI_Op op(Reduce how) {
    switch (how) {
        case Reduce::sum:
            return MPI_SUM;
        case Reduce::min:
            return MPI_MIN;
        case Reduce::max:
            return MPI_MAX;
    }
    return MPI_OP_NULL;
}

/// Waits for `request`, and sleeps in between. Ranks agree after file operations, and who waits
/// there would otherwise take the processor from those that still work, and from the kernel's
/// threads that carry their data to the disk.
void wait_at_rest(MPI_Request& request) {
    const auto begin = Clock::now();
    for (int done = 0;;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done) return;
        nap(Clock::now() - begin, std::chrono::microseconds(50));
    }
}

/// Keeps the order of unsigned numbers where they are compared as signed ones. MPICH 4.0 compares
/// MPI_UINT64_T that way: the greatest of 0 and 2^64-1 is 0 there.
void turn_sign(std::span<std::uint64_t> values) {
    for (std::uint64_t& value : values) value ^= std::uint64_t{1} << 63;
}

class MpiGroup final : public Group {
public:
    MpiGroup(MPI_Comm owned, std::size_t largest_message)
        : x_comm(owned), x_largest_message(largest_message) {
        check(MPI_Comm_set_errhandler(x_comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check(MPI_Comm_rank(x_comm, &x_rank), "MPI_Comm_rank");
        check(MPI_Comm_size(x_comm, &x_size), "MPI_Comm_size");
    }
    ~MpiGroup() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (!finalized) MPI_Comm_free(&x_comm);
    }
    MpiGroup(const MpiGroup&) = delete;
    MpiGroup& operator=(const MpiGroup&) = delete;

    [[nodiscard]] MPI_Comm comm() const noexcept { return x_comm; }
    [[nodiscard]] int rank() const noexcept override { return x_rank; }
    [[nodiscard]] int size() const noexcept override { return x_size; }
    void barrier() override { check(MPI_Barrier(x_comm), "MPI_Barrier"); }

    void broadcast(std::span<std::byte> data, int root) override {
        while (!data.empty()) {
            const std::size_t part = std::min(data.size(), x_largest_message);
            check(MPI_Bcast(data.data(), static_cast<int>(part), MPI_BYTE, root, x_comm),
                  "MPI_Bcast");
            data = data.subspan(part);
        }
    }

    void reduce_all(std::span<std::uint64_t> values, Reduce how) override {
        if (how != Reduce::sum) turn_sign(values);
        in_pieces(values, [&](std::span<std::uint64_t> part) {
            MPI_Request request = MPI_REQUEST_NULL;
            check(MPI_Iallreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()),
                                 how == Reduce::sum ? MPI_UINT64_T : MPI_INT64_T, op(how), x_comm,
                                 &request),
                  "MPI_Iallreduce");
            wait_at_rest(request);
        });
        if (how != Reduce::sum) turn_sign(values);
    }
    void reduce_all(std::span<double> values, Reduce how) override {
        in_pieces(values, [&](std::span<double> part) {
            check(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()),
                                MPI_DOUBLE, op(how), x_comm),
                  "MPI_Allreduce");
        });
    }

    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine, int root) override;
    std::vector<std::vector<std::byte>> exchange(
        std::span<const std::vector<std::byte>> to) override;

    std::shared_ptr<Group> split(int color, int key) override {
        MPI_Comm part = MPI_COMM_NULL;
        check(MPI_Comm_split(x_comm, color, key, &part), "MPI_Comm_split");
        return std::make_shared<MpiGroup>(part, x_largest_message);
    }

    std::shared_ptr<Group> split_node() override {
        MPI_Comm part = MPI_COMM_NULL;
        check(MPI_Comm_split_type(x_comm, MPI_COMM_TYPE_SHARED, x_rank, MPI_INFO_NULL, &part),
              "MPI_Comm_split_type");
        return std::make_shared<MpiGroup>(part, x_largest_message);
    }

    std::shared_ptr<std::byte> map(std::uint64_t) override { return nullptr; }
    std::unique_ptr<Wire> open_wire() override { return open_mpi_wire(x_comm, x_largest_message); }

private:
    /// Calls `work` with at most as many values as a message holds; once where there are none, so
    /// that ranks stay in step.
    template <class Number, class Work>
    void in_pieces(std::span<Number> values, Work&& work) const {
        const std::size_t most = std::max<std::size_t>(1, x_largest_message / sizeof(Number));
        do {
            const std::size_t part = std::min(values.size(), most);
            work(values.first(part));
            values = values.subspan(part);
        } while (!values.empty());
    }

    MPI_Comm x_comm;
    std::size_t x_largest_message;
    int x_rank = 0;
    int x_size = 1;
};

// Root receives rank by rank: gathered texts are small, and displacements of a Gatherv are int.
std::vector<std::vector<std::byte>> MpiGroup::gather(std::span<const std::byte> mine, int root) {
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(x_rank == root ? static_cast<std::size_t>(x_size) : 0);
    check(MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, root, x_comm),
          "MPI_Gather");
    constexpr int tag = 7;
    if (x_rank != root) {
        for (std::size_t sent = 0; sent < mine.size();) {
            const std::size_t part = std::min(mine.size() - sent, x_largest_message);
            check(MPI_Send(mine.data() + sent, static_cast<int>(part), MPI_BYTE, root, tag, x_comm),
                  "MPI_Send");
            sent += part;
        }
        return {};
    }
    std::vector<std::vector<std::byte>> all(lengths.size());
    for (int r = 0; r < x_size; ++r) {
        auto& one = all[static_cast<std::size_t>(r)];
        one.resize(lengths[static_cast<std::size_t>(r)]);
        if (r == root) {
            std::copy(mine.begin(), mine.end(), one.begin());
            continue;
        }
        for (std::size_t got = 0; got < one.size();) {
            const std::size_t part = std::min(one.size() - got, x_largest_message);
            check(MPI_Recv(one.data() + got, static_cast<int>(part), MPI_BYTE, r, tag, x_comm,
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
            got += part;
        }
    }
    return all;
}

// Messages between two ranks keep their order, so that the parts of one text need no number.
std::vector<std::vector<std::byte>> MpiGroup::exchange(std::span<const std::vector<std::byte>> to) {
    std::vector<std::uint64_t> leaving, coming(static_cast<std::size_t>(x_size));
    for (const auto& one : to) leaving.push_back(one.size());
    check(MPI_Alltoall(leaving.data(), 1, MPI_UINT64_T, coming.data(), 1, MPI_UINT64_T, x_comm),
          "MPI_Alltoall");
    constexpr int tag = 8;
    std::vector<std::vector<std::byte>> from(coming.size());
    std::vector<MPI_Request> requests;
    for (int r = 0; r < x_size; ++r) {
        auto& one = from[static_cast<std::size_t>(r)];
        one.resize(coming[static_cast<std::size_t>(r)]);
        if (r == x_rank) continue;
        in_messages(one.size(), x_largest_message, [&](std::size_t begin, int bytes) {
            check(MPI_Irecv(one.data() + begin, bytes, MPI_BYTE, r, tag, x_comm,
                            &requests.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Irecv");
        });
    }
    for (int r = 0; r < x_size; ++r) {
        const auto& one = to[static_cast<std::size_t>(r)];
        if (r == x_rank) {
            from[static_cast<std::size_t>(r)] = one;
            continue;
        }
        in_messages(one.size(), x_largest_message, [&](std::size_t begin, int bytes) {
            check(MPI_Isend(one.data() + begin, bytes, MPI_BYTE, r, tag, x_comm,
                            &requests.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Isend");
        });
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    return from;
}

}  // namespace

Comm from_mpi(MPI_Comm parent, std::size_t largest_message_bytes) {
    if (largest_message_bytes == 0 || largest_message_bytes > INT_MAX)
        throw core::Error(core::Code::wrong_call,
                          "messages of " + std::to_string(largest_message_bytes) +
                              " bytes are not possible: MPI's counts are int",
                          "from_mpi", "give 1 to " + std::to_string(INT_MAX));
    const ErrorsReturn guard;
    MPI_Comm copy = MPI_COMM_NULL;
    check(MPI_Comm_dup(parent, &copy), "MPI_Comm_dup");
    return Comm(std::make_shared<MpiGroup>(copy, largest_message_bytes));
}

MPI_Comm native(const Comm& comm) {
    if (const auto* group = dynamic_cast<const MpiGroup*>(&comm.group())) return group->comm();
    if (comm.size() == 1) return MPI_COMM_SELF;
    throw core::Error(core::Code::unsupported, "ranks that are threads have no MPI communicator",
                      "native", "write with Comm::self() in one of them");
}

ErrorsReturn::ErrorsReturn() noexcept {
    int initialised = 0, finalized = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalized);
    if (!initialised || finalized) return;
    if (MPI_Comm_get_errhandler(MPI_COMM_WORLD, &x_before) != MPI_SUCCESS) return;
    x_set = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

ErrorsReturn::~ErrorsReturn() {
    if (x_set) MPI_Comm_set_errhandler(MPI_COMM_WORLD, x_before);
    if (x_before != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&x_before);
}

std::string error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
        return "MPI error " + std::to_string(code);
    return {text.data(), static_cast<std::size_t>(length)};
}

void check(int code, const std::string& call, const std::string& where) {
    if (code == MPI_SUCCESS) return;
    int error_class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &error_class);
    const bool full = error_class == MPI_ERR_NO_SPACE || error_class == MPI_ERR_QUOTA;
    const bool file = full || error_class == MPI_ERR_IO || error_class == MPI_ERR_FILE;
    const auto kind = full ? core::Code::no_space : file ? core::Code::io : core::Code::internal;
    throw core::Error(kind, call + " failed: " + error_text(code), where,
                      full ? "free space on the file system, or write elsewhere" : "");
}

std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown MPI";
    std::string all(text.data(), static_cast<std::size_t>(length));
    if (all.starts_with("Open MPI v")) return "Open MPI " + all.substr(10, all.find(',') - 10);
    if (all.starts_with("MPICH Version:")) {
        const std::size_t begin = all.find_first_not_of(" \t", 14);
        return "MPICH " + all.substr(begin, all.find('\n') - begin);
    }
    return all.substr(0, all.find('\n'));
}

Comm from_handle(int fortran_handle) {
    int running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running == 0 || ended != 0)
        throw core::Error(core::Code::wrong_call,
                          ended != 0 ? "MPI has ended already" : "MPI is not initialised", "",
                          "call MPI_Init first, and MPI_Finalize last");
    return from_mpi(MPI_Comm_f2c(fortran_handle));
}

int handle_of(const Comm& comm) { return MPI_Comm_c2f(native(comm)); }

}  // namespace tailrace::comm
