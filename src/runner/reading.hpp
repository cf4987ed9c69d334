// SPDX-License-Identifier: Apache-2.0
// Reading a finished file by another decomposition than the one that wrote it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "core/sink.hpp"
#include "runner/kernel.hpp"

namespace tailrace::runner {

/// Boxes of at most `most` elements that cover `box`, in row-major order, cut along the slowest
/// axes that there are.  [local]
[[nodiscard]] std::vector<core::Box> pieces_of(const core::Box& box, std::uint64_t most);

/// A finished file of a kernel, opened by all ranks.
class Opened {
public:
    /// [collective]
    /// @param phases  of the run: gets the time in read calls, as phase "read"
    /// @throws core::Error on all ranks, also where an object of the kernel is missing
    /// @param step  whose file is meant
    Opened(const comm::Comm& comm, const Kernel& kernel, std::uint64_t step, core::Phases& phases);

    /// Receives what was read: the piece, and its values in the type of the object.
    using Take = std::function<void(const Piece&, std::span<const std::byte>)>;
    /// Reads the pieces of this rank one after the other, in step with the other ranks, in parts
    /// of at most `most` elements and of `buffer`.  [collective]
    void read(std::span<const Piece> pieces, std::uint64_t most, std::span<std::byte> buffer,
              const Take& take);
    /// One call for all pieces, which lie behind each other in `buffer`.  [collective]
    void read_together(std::span<const Piece> pieces, std::span<std::byte> buffer);

private:
    comm::Comm x_comm;
    const Kernel& x_kernel;
    core::Phases& x_reading;
    core::Phases x_phases;  // the Source's own: they belong to no part of the writing
    std::unique_ptr<core::Source> x_source;
    std::vector<core::ObjectId> x_ids;  ///< of the kernel's objects in the file
};

/// Compares what was read, bit by bit, with what the kernel had to write.
class Comparison {
public:
    explicit Comparison(const Kernel& kernel);
    void compare(const Piece& piece, std::span<const std::byte> found);  ///< [local]
    void compare(const Piece& piece, std::span<const std::byte> expected,
                 std::span<const std::byte> found);  ///< [local]
    /// Complete on rank 0, with the totals everywhere; passed where all of `elements` were
    /// compared and none is wrong.  [collective]
    [[nodiscard]] core::VerificationRecord result(const comm::Comm& comm,
                                                  std::uint64_t elements) const;

private:
    /// In a form that travels between ranks.
    struct Difference {
        std::size_t object;
        std::uint64_t linear;  ///< index, row-major
        double expected, found;
    };
    void note(const Piece& part, std::span<const std::byte> expected,
              std::span<const std::byte> found);

    const Kernel& x_kernel;
    std::vector<std::byte> x_expected;
    std::uint64_t x_elements = 0, x_wrong = 0;
    std::vector<Difference> x_first;
    std::vector<std::string> x_paths;
    std::vector<core::Extents> x_sizes;
};

/// Elements of all steps.  [local]
/// @param late  with the objects that late pieces make up
[[nodiscard]] std::uint64_t elements_of(const Kernel& kernel, bool late);

/// Reads every element once, each rank its part, timed from the last rank in to the last rank out
/// (the opening included). Phase "read_back".  [collective]
/// @param buffer  what is read lands here; at least one element
/// @throws core::Error on all ranks
[[nodiscard]] core::ReadBackRecord read_back(const comm::Comm& comm, const Kernel& kernel,
                                             core::Phases& phases, std::span<std::byte> buffer);

/// Reads every element once through a fresh opening and compares it, bit by bit, with its fill.
/// Phase "verify". The result is complete on rank 0 and has the totals everywhere.  [collective]
/// @throws core::Error on all ranks where reading fails; a wrong value is no Error here
[[nodiscard]] core::VerificationRecord verify(const comm::Comm& comm, const Kernel& kernel,
                                              core::Phases& phases, std::span<std::byte> buffer);

}  // namespace tailrace::runner
