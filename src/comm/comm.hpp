// SPDX-License-Identifier: Apache-2.0
// Communication with three faces: one process (self), threads (comm/threads.hpp), MPI
// (comm/mpi_comm.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/group.hpp"
#include "core/error.hpp"

namespace tailrace::comm {

class Channel;
class SharedMemory;

/// A communicator by value. Copies share the same communicator.
class Comm {
public:
    /// One process, no MPI.  [local]
    [[nodiscard]] static Comm self();
    explicit Comm(std::shared_ptr<Group> group) : x_group(std::move(group)) {}

    [[nodiscard]] int rank() const noexcept { return x_group->rank(); }  ///< [local]
    [[nodiscard]] int size() const noexcept { return x_group->size(); }  ///< [local]
    void barrier() const { x_group->barrier(); }                         ///< [collective]

    /// Bytes of any number, also over 2^31, of equal length on all ranks.  [collective]
    void broadcast(std::span<std::byte> data, int root = 0) const {
        x_group->broadcast(data, root);
    }
    /// A text of any length from `root` to all.  [collective]
    [[nodiscard]] std::string broadcast(std::string text, int root = 0) const;
    /// One trivially copyable value from `root`.  [collective]
    template <class T>
    [[nodiscard]] T broadcast_value(T value, int root = 0) const {
        static_assert(std::is_trivially_copyable_v<T>);
        broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
        return value;
    }

    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;       ///< [collective]
    [[nodiscard]] std::uint64_t min(std::uint64_t value) const;       ///< [collective]
    [[nodiscard]] std::uint64_t max(std::uint64_t value) const;       ///< [collective]
    [[nodiscard]] double sum(double value) const;                     ///< [collective]
    [[nodiscard]] double min(double value) const;                     ///< [collective]
    [[nodiscard]] double max(double value) const;                     ///< [collective]
    void reduce(std::span<std::uint64_t> values, Reduce how) const {  ///< [collective]
        x_group->reduce_all(values, how);
    }
    void reduce(std::span<double> values, Reduce how) const {  ///< [collective]
        x_group->reduce_all(values, how);
    }

    /// Byte strings of any length; one per rank on root, empty elsewhere.  [collective]
    [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine,
                                                             int root = 0) const {
        return x_group->gather(mine, root);
    }
    /// Byte strings of any length from every rank to every rank.  [collective]
    /// @param to  one entry per rank
    /// @returns one entry per rank: what it sent to this one
    [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
        std::span<const std::vector<std::byte>> to) const {
        return x_group->exchange(to);
    }
    /// Texts; one per rank on root, empty elsewhere.  [collective]
    [[nodiscard]] std::vector<std::string> gather_text(const std::string& mine, int root = 0) const;
    /// Trivially copyable values; one per rank on root, empty elsewhere.  [collective]
    template <class T>
    [[nodiscard]] std::vector<T> gather_value(const T& mine, int root = 0) const {
        static_assert(std::is_trivially_copyable_v<T>);
        std::vector<T> all;
        for (const auto& bytes : gather(std::as_bytes(std::span(&mine, 1)), root)) {
            T one;
            std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(&one));
            all.push_back(one);
        }
        return all;
    }

    /// Agrees on failure: returns where no rank has one, otherwise throws on ALL ranks the Error of
    /// the lowest failing rank, with the number of ranks that failed.  [collective]
    void agree(const std::optional<core::Error>& mine) const;
    /// Runs `work` (no communication inside) and agrees on the outcome; exceptions other than
    /// Error become Code::internal.  [collective]
    template <class Work>
    auto agree_on(Work&& work) const {
        using Result = std::invoke_result_t<Work>;
        std::optional<core::Error> mine;
        if constexpr (std::is_void_v<Result>) {
            mine = caught([&] { work(); });
            agree(mine);
        } else {
            std::optional<Result> result;
            mine = caught([&] { result.emplace(work()); });
            agree(mine);
            return std::move(*result);
        }
    }
    /// True on all ranks where all gave the same value.  [collective]
    [[nodiscard]] bool same(std::uint64_t value) const;

    [[nodiscard]] Comm split(int color, int key) const {  ///< [collective]
        return Comm(x_group->split(color, key));
    }
    /// The ranks that share memory: a node; TAILRACE_RANKS_PER_NODE imitates smaller ones.
    /// [collective]
    [[nodiscard]] Comm split_node() const;
    /// Messages between the ranks of this one (comm/channel.hpp).  [collective]
    [[nodiscard]] Channel channel() const;
    /// Memory that all ranks see (comm/shared_memory.hpp).  [collective]
    /// @param bytes    of this rank's part; may be 0
    /// @param reserve  false: a rank reserves of its part what it uses (SharedMemory::reserve)
    /// @pre  the ranks are of one node, as those of split_node()
    /// @throws core::Error{Code::no_space | ...} on all ranks where one does not get its part
    [[nodiscard]] SharedMemory share_memory(std::uint64_t bytes, bool reserve = true) const;

    [[nodiscard]] Group& group() const noexcept { return *x_group; }  ///< [local]

    /// The Error that `work` ended with, if any.  [local]
    template <class Work>
    [[nodiscard]] static std::optional<core::Error> caught(Work&& work) {
        try {
            work();
        } catch (const core::Error& error) {
            return error;
        } catch (const std::bad_alloc&) {
            return core::no_memory("there is no memory for it");
        } catch (const std::exception& error) {
            return core::Error(core::Code::internal, error.what(), "", "please report it");
        }
        return std::nullopt;
    }

private:
    std::shared_ptr<Group> x_group;
};

}  // namespace tailrace::comm
