// SPDX-License-Identifier: Apache-2.0
// The arms without a library: pwrite, and a copy in memory.
#include "formats/limit/plain.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "core/phases.hpp"
#include "formats/limit/scratch.hpp"

namespace tailrace::formats::limit {

namespace {

// Larger than the caches; a second buffer as large as the data would double what a rank takes.
constexpr std::size_t copy_window_bytes = std::size_t{64} << 20U;

/// Bytes of one step: those of all ranks, and of the ranks before this one.
struct Shares {
    std::uint64_t before = 0, all = 0;
};

Shares shares_of(const comm::Comm& comm, std::uint64_t mine) {
    std::vector<std::uint64_t> bytes(static_cast<std::size_t>(comm.size()));
    const auto rank = static_cast<std::size_t>(comm.rank());
    bytes[rank] = mine;
    comm.reduce(std::span(bytes), comm::Reduce::sum);
    const auto me = bytes.begin() + static_cast<std::ptrdiff_t>(rank);
    return {std::accumulate(bytes.begin(), me, std::uint64_t{0}),
            std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0})};
}

/// The greatest of any step.
std::uint64_t longest_step(const Work& work) {
    std::uint64_t longest = 0;
    for (std::uint64_t step = 0; step < work.steps; ++step)
        longest = std::max(longest, bytes_of(work, step));
    return longest;
}

}  // namespace

std::uint64_t bytes_of(const Work& work, std::uint64_t step) {
    std::uint64_t bytes = 0;
    for (const core::Write& write : work.writes(step))
        bytes += write.place.empty() ? 0 : write.place.volume() * core::size_of(write.type);
    return bytes;
}

double file_per_rank(const comm::Comm& comm, const Work& work, bool synced,
                     const std::filesystem::path& name) {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), ".%05d", comm.rank());
    std::filesystem::path mine = name;
    mine += number.data();
    std::optional<Scratch> file;
    const Clock clock(comm);
    const auto failure = comm::Comm::caught([&] {
        file.emplace(mine);
        std::uint64_t offset = 0;
        for (std::uint64_t step = 0; step < work.steps; ++step) {
            const std::uint64_t bytes = bytes_of(work, step);
            write_fully(file->fd(), work.data.data(), bytes, offset, mine);
            offset += bytes;
        }
        if (synced) file->sync();
        file->close();
    });
    return clock.stop(failure);
}

double shared_file(const comm::Comm& comm, const Work& work, bool synced,
                   const std::filesystem::path& name) {
    const Shares first = shares_of(comm, longest_step(work));
    const bool syncs = synced && first_of_node(comm);
    std::optional<Scratch> file;
    const Clock clock(comm);
    comm.agree_on([&] {
        if (comm.rank() == 0) file.emplace(name);
    });
    const auto failure = comm::Comm::caught([&] {
        const Descriptor fd(open_file(name, O_WRONLY));
        if (!fd.open()) throw system_error(errno, "cannot open the file", name);
        for (std::uint64_t step = 0; step < work.steps; ++step)
            write_fully(fd.get(), work.data.data(), bytes_of(work, step),
                        step * first.all + first.before, name);
    });
    // All data is there before one rank of each node syncs it.
    comm.agree(failure);
    return clock.stop(syncs ? synced_file(name) : std::nullopt);
}

double memory_copy(const comm::Comm& comm, const Work& work) {
    const std::size_t window = std::min(work.data.size(), copy_window_bytes);
    std::vector<std::byte> target;
    comm.agree_on([&] {
        try {
            target.assign(window, std::byte{1});  // touched: no page faults on the clock
        } catch (const std::bad_alloc&) {
            throw core::Error(core::Code::no_space, "no memory for a copy",
                              work.objects.front().path, "choose less data per rank");
        }
    });
    const Clock clock(comm);
    for (std::uint64_t step = 0; step < work.steps; ++step)
        for (std::uint64_t at = 0, bytes = bytes_of(work, step); at < bytes; at += window) {
            std::memcpy(target.data(), work.data.data() + at,
                        static_cast<std::size_t>(std::min<std::uint64_t>(window, bytes - at)));
            // The copies must not be left out because nobody reads them.
            asm volatile("" : : "r"(target.data()) : "memory");
        }
    return clock.stop(std::nullopt);
}

}  // namespace tailrace::formats::limit
