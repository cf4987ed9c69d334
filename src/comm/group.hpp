// SPDX-License-Identifier: Apache-2.0
// What the collectives of a Comm ask of its face: of threads (threads.cpp), one of which is a
// process on its own, or of MPI (mpi_comm.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tailrace::comm {

class Wire;

enum class Reduce { sum, min, max };

/// One group of ranks.
class Group {
public:
    virtual ~Group() = default;
    [[nodiscard]] virtual int rank() const noexcept = 0;
    [[nodiscard]] virtual int size() const noexcept = 0;
    virtual void barrier() = 0;
    virtual void broadcast(std::span<std::byte> data, int root) = 0;
    virtual void reduce_all(std::span<std::uint64_t> values, Reduce how) = 0;
    virtual void reduce_all(std::span<double> values, Reduce how) = 0;
    /// Variable lengths; one entry per rank on `root`, nothing elsewhere.
    virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                                       int root) = 0;
    /// Variable lengths; one entry per rank, what goes to it and what came from it.
    virtual std::vector<std::vector<std::byte>> exchange(
        std::span<const std::vector<std::byte>> to) = 0;
    virtual std::shared_ptr<Group> split(int color, int key) = 0;
    /// Ranks that share memory.
    virtual std::shared_ptr<Group> split_node() = 0;
    /// The face of a new Channel.
    virtual std::unique_ptr<Wire> open_wire() = 0;
    /// Zeros that all ranks see, where they are threads of one process; nothing where they are not.
    virtual std::shared_ptr<std::byte> map(std::uint64_t bytes) = 0;
};

}  // namespace tailrace::comm
