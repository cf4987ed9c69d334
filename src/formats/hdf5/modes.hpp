// SPDX-License-Identifier: Apache-2.0
// What HDF5 says of its transfers after they were made: collective or not, how, and why not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Gathers the verdicts of all transfers of this rank.
class TransferModes {
public:
    /// Looks at the transfer list of a collective transfer that has just been made.  [local]
    void note(const h5::Id& transfer);
    /// Counts an independent transfer.  [local]
    void note_independent() noexcept { ++x_counts[independent]; }

    struct Verdict {
        std::optional<bool> collective;  ///< unset: nothing was transferred
        std::string mode;
        std::string cause;  ///< empty: nothing kept transfers from being collective
    };
    /// The verdict over all ranks, equal on all of them.  [collective]
    [[nodiscard]] Verdict agreed(const comm::Comm& comm) const;

private:
    // How often each was seen; sums over ranks keep the meaning.
    enum Slot : std::size_t {
        independent,
        asked_collective,
        chunk_independent,
        chunk_collective,
        contiguous_collective,
        linked,
        multi,
        first_cause
    };
    static constexpr std::size_t causes = 9;  ///< bits of H5D_mpio_no_collective_cause_t
    std::array<std::uint64_t, first_cause + causes> x_counts{};
};

}  // namespace tailrace::formats::hdf5
