// SPDX-License-Identifier: Apache-2.0
// AMReX's own plot file, a folder: texts for people and programs, and files of boxes that several
// ranks share. Each object is a file, in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/amr/fill.hpp"
#include "kernels/amr/layout.hpp"

namespace tailrace::kernels::amr {

/// What one of several ranks does of rows that are much alike: a stretch of them.
struct Share {
    std::uint64_t rank = 0, ranks = 1;

    [[nodiscard]] std::size_t first(std::size_t rows) const noexcept {  ///< [local]
        return static_cast<std::size_t>(std::min(rank, ranks) * rows / ranks);
    }
    [[nodiscard]] std::size_t of(std::size_t rows) const noexcept {  ///< how many  [local]
        return static_cast<std::size_t>(std::min(rank + 1, ranks) * rows / ranks) - first(rows);
    }
    /// Whose share a row is.  [local]
    [[nodiscard]] static std::size_t owner(std::size_t row, std::size_t rows,
                                           std::uint64_t ranks) noexcept {
        return static_cast<std::size_t>(((row + 1) * ranks - 1) / rows);
    }
};

class NativeLayout final : public Layout {
public:
    /// @param particles  for the checkpoint `particle0`; nullptr: none. Mesh, fill and particles
    ///                   outlive the layout.
    /// @param files      of boxes per level at most; the ranks of one file lie one behind the other
    /// @throws core::Error{bad_input}
    NativeLayout(const Plot& plot, const Fill& fill, const Particles* particles,
                 std::uint64_t files);

    [[nodiscard]] core::Schema schema() const override { return x_schema; }
    [[nodiscard]] runner::Piece of_box(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] std::uint64_t head_bytes(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] runner::Piece of_particles(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] std::vector<runner::Piece> tables() const override { return {}; }
    void values(std::size_t object, const core::Box& place,
                std::span<std::byte> bytes) const override;

    enum class Holds { text, cells, particles };
    [[nodiscard]] Holds holds(std::size_t object) const noexcept {  ///< [local]
        return x_where[object].holds;
    }
    [[nodiscard]] std::uint64_t text_ranks()
        const;  ///< that make the texts: the first ones  [local]
    /// The share of a rank of all texts, part by part; where each lies depends on the others.
    /// [local]
    /// @param extremes  by level, of all boxes of the share one after the other
    /// @throws core::Error{wrong_call} if they are not those
    [[nodiscard]] std::vector<runner::LatePiece> texts(const Share& share,
                                                       std::span<const Extremes> extremes) const;
    /// Gives texts() their offsets, and leaves out empty ones.  [local]
    /// @param sizes  of the parts of each rank, rank by rank
    /// @throws core::Error{wrong_call} if the texts are not as long as schema() says
    void put_in_place(std::vector<runner::LatePiece>& texts, const Share& share,
                      std::span<const std::uint64_t> sizes) const;
    /// Rows of a text, mostly one for each box of a level.
    struct Rows {
        std::size_t count;
        std::function<void(std::string&, std::size_t)> append;
        std::uint64_t width = 0;  ///< of each, where it is known beforehand
    };

private:
    /// Boxes of a level, or their particles, in numbered files.
    struct Spread {
        std::string prefix;                             ///< "/Level_0/Cell_D_"
        std::vector<std::uint64_t> sizes;               ///< by file
        std::vector<std::uint64_t> files;               ///< the file of each box
        std::vector<std::uint64_t> offsets;             ///< and where it begins there
        std::vector<std::size_t> objects;               ///< by file; an empty one has none
        std::vector<std::vector<std::uint32_t>> boxes;  ///< by file, as they lie there
    };

    /// What an object is: a text, or a file of a level.
    struct Where {
        Holds holds;
        std::size_t level = 0, file = 0;
    };

    template <class Size>
    [[nodiscard]] Spread spread(const Level& level, std::string prefix, Size&& size) const;
    void add_files(Spread& spread, Holds holds, std::size_t level);
    enum class Kind { header, cell_h, particle_header, particle_h };
    struct Text {
        std::size_t object;
        Kind kind;
        std::size_t level;
    };
    void add_text(Kind kind, std::size_t level, const std::string& path);
    void add_file(const std::string& path, std::uint64_t bytes, const Where& where);
    /// The bytes of a box in its file, from `from` on.
    void fab(std::size_t level, std::uint32_t box, std::uint64_t from,
             std::span<std::byte> bytes) const;
    [[nodiscard]] std::string fab_head(const CellBox& box) const;
    /// @param extremes  of the boxes from `first` on; nullptr if no row is wanted
    [[nodiscard]] std::vector<Rows> rows_of(const Text& text, const Extremes* extremes,
                                            std::size_t first) const;
    [[nodiscard]] std::string header_head() const;
    void add_header(std::vector<Rows>& all) const;
    void add_boxes(std::vector<Rows>& all, std::size_t level) const;
    void add_cell_h(std::vector<Rows>& all, std::size_t level, const Extremes* extremes,
                    std::size_t first) const;
    void add_particle_header(std::vector<Rows>& all) const;

    Plot x_plot;
    const Fill& x_fill;
    const Particles* x_particles;
    std::uint64_t x_files;
    core::Schema x_schema;
    std::vector<Where> x_where;  ///< by object
    std::vector<Text> x_texts;
    std::vector<Spread> x_cells, x_points;  ///< by level
};

}  // namespace tailrace::kernels::amr
