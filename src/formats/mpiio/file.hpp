// SPDX-License-Identifier: Apache-2.0
// An MPI_File that is in step on all ranks: rounds of portions, whoever has something or not.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "formats/mpiio/datatype.hpp"
#include "formats/mpiio/info.hpp"

namespace tailrace::formats::mpiio {

enum class Access { read, write };

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
    /// @param views     some rank has a portion that is not contiguous in the file; all must agree
    /// @param data_of   memory of a piece
    [[nodiscard]] std::optional<core::Error> transfer(
        std::span<const raw::Placed> objects, std::span<const Portion> portions,
        const std::function<core::ObjectId(std::size_t)>& object_of,
        const std::function<std::byte*(std::size_t)>& data_of, std::uint64_t rounds, bool views,
        bool collective);
    /// [local]
    [[nodiscard]] Hints hints() const { return hints_in_force(x_file); }
    /// Closes it; returns the failure of this rank.  [collective]
    [[nodiscard]] std::optional<core::Error> close() noexcept;

private:
    struct Round;
    void set_view(const Round& round);
    void move(const Round& round, bool collective);
    [[nodiscard]] std::string doing() const;

    MPI_File x_file = MPI_FILE_NULL;
    std::filesystem::path x_name;
    Access x_access;
    bool x_default_view = true;
};

/// The portions of pieces; `flags` of the plan is 1 where one needs a view.
struct Portions {
    std::vector<Portion> list;
    bool views = false;
};
template <class Piece>
[[nodiscard]] Portions portions_of(std::span<Piece> pieces, std::span<const raw::Placed> objects,
                                   bool collective) {
    Portions portions;
    for (std::size_t p = 0; p < pieces.size(); ++p)
        cut_piece(p, objects[pieces[p].object], pieces[p].place, pieces[p].memory, !collective,
                  portions.list);
    for (const Portion& portion : portions.list) portions.views |= !portion.one_run;
    return portions;
}

}  // namespace tailrace::formats::mpiio
