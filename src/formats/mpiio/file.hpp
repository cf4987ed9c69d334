// SPDX-License-Identifier: Apache-2.0
// An MPI_File that is in step on all ranks: rounds of portions, whoever has something or not.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "formats/mpiio/datatype.hpp"
#include "formats/mpiio/info.hpp"

namespace tailrace::formats::mpiio {

enum class Access { read, write };

/// What a rank moves.
struct Portions {
    std::vector<Portion> list;
    std::vector<std::size_t> calls;  ///< how many of them each moves, in their order
    bool views = false;              ///< one moves what is not contiguous in the file
};

class File {
public:
    /// @param name  for messages
    /// @throws core::Error on all ranks or on none  [collective]
    File(const comm::Comm& comm, const std::filesystem::path& path,
         const std::filesystem::path& name, Access access, const Hints& hints);
    /// Never closes: that is collective, see close().  [local]
    ~File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Moves `portions` in `rounds` rounds, of which this rank may have fewer. A failure of this
    /// rank is returned after the last round.  [collective]
    /// @param views  some rank moves what is not contiguous in the file; all must agree
    [[nodiscard]] std::optional<core::Error> transfer(const Portions& portions,
                                                      std::uint64_t rounds, bool views,
                                                      bool collective);
    /// [local]
    [[nodiscard]] Hints hints() const { return hints_in_force(x_file); }
    /// Closes it; returns the failure of this rank.  [collective]
    [[nodiscard]] std::optional<core::Error> close() noexcept;

private:
    struct Round;
    [[nodiscard]] static Round round_of(std::span<const Portion> portions, bool view);
    void set_view(const Round& round);
    void move(const Round& round, bool collective);
    [[nodiscard]] std::string doing() const;

    MPI_File x_file = MPI_FILE_NULL;
    std::filesystem::path x_name;
    Access x_access;
    bool x_default_view = true;
};

/// The portions of pieces to write, each moved by a call of its own; of pieces to read collectively
/// one call moves several.  [local]
template <class Piece>
[[nodiscard]] Portions portions_of(std::span<Piece> pieces, std::span<const raw::Placed> objects,
                                   bool collective) {
    Portions portions;
    for (Piece& piece : pieces)
        // MPI-IO takes memory to write from as void*, and does not change it.
        cut_piece(objects[piece.object], const_cast<std::byte*>(piece.data), piece.place,
                  piece.memory, !collective, portions.list);
    if (collective && std::is_same_v<Piece, core::Read>)
        portions.calls = united_calls(portions.list);
    else
        portions.calls.assign(portions.list.size(), 1);
    portions.views = portions.calls.size() < portions.list.size();
    for (const Portion& portion : portions.list) portions.views |= !portion.one_run;
    return portions;
}

}  // namespace tailrace::formats::mpiio
