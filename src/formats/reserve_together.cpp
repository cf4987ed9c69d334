// SPDX-License-Identifier: Apache-2.0
#include "formats/reserve_together.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace tailrace::formats {

using core::Error;

Reservation reserve_together(const comm::Comm& comm, core::Phases& phases,
                             const std::filesystem::path& file, std::uint64_t bytes,
                             const std::filesystem::path& name) {
    // Whole pages: two ranks in one page would wait for each other.
    constexpr std::uint64_t page_bytes = 2U << 20U;
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const std::uint64_t share = (bytes / ranks / page_bytes + 1) * page_bytes;
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const std::uint64_t begin = bytes / share < rank ? bytes : std::min(bytes, rank * share);
    Reservation outcome{true, ""};
    const std::optional<Error> mine = comm::Comm::caught([&] {
        const Extent mine_of_it{begin, std::min(share, bytes - begin)};
        if (mine_of_it.bytes == 0) return;
        const Descriptor fd(open_file(file, O_RDWR));
        if (!fd.open()) throw system_error(errno, "cannot open the file", file);
        outcome = reserve(fd.get(), mine_of_it, bytes, name, core::Code::no_space_reserved);
    });
    {
        const auto agreeing = phases.enter("agree");
        comm.agree(mine);
        outcome.reserved = comm.min(std::uint64_t{outcome.reserved ? 1U : 0U}) == 1;
        outcome.text = comm.broadcast(outcome.text);
    }
    if (outcome.reserved)
        outcome.text = std::to_string(bytes) + " bytes by fallocate, by all ranks";
    return outcome;
}

}  // namespace tailrace::formats
