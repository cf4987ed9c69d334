// SPDX-License-Identifier: Apache-2.0
// AMReX's own plot file, a folder: texts for people and programs, and files of boxes that several
// ranks share. Each object is a file, in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/amr/fill.hpp"
#include "kernels/amr/layout.hpp"

namespace tailrace::kernels::amr {

class NativeLayout final : public Layout {
public:
    /// @param particles  for the checkpoint `particle0`; nullptr: none. Mesh, fill and particles
    ///                   outlive the layout.
    /// @param files      of boxes per level at most; the ranks of one file lie one behind the other
    /// @throws core::Error{bad_input}
    NativeLayout(const Plot& plot, const Fill& fill, const Particles* particles,
                 std::uint64_t files);

    [[nodiscard]] core::Schema schema() const override { return x_schema; }
    [[nodiscard]] run::Piece of_box(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] std::uint64_t head_bytes(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] run::Piece of_particles(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] std::vector<run::Piece> tables() const override { return {}; }
    void values(std::size_t object, const core::Box& place,
                std::span<std::byte> bytes) const override;

    enum class Holds { text, cells, particles };
    [[nodiscard]] Holds holds(std::size_t object) const noexcept {  ///< [local]
        return x_where[object].holds;
    }
    /// The texts; one rank writes them.  [local]
    /// @param extremes  by level and box
    /// @throws core::Error{wrong_call} if they are longer than schema() says
    [[nodiscard]] std::vector<run::LatePiece> texts(
        const std::vector<std::vector<Extremes>>& extremes) const;
    [[nodiscard]] std::uint64_t text_bytes() const;  ///< of all texts  [local]

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
    void add_text(Kind kind, std::size_t level, const std::string& path, std::uint64_t bytes);
    void add_file(const std::string& path, std::uint64_t bytes, const Where& where);
    /// The bytes of a box in its file, from `from` on.
    void fab(std::size_t level, std::uint32_t box, std::uint64_t from,
             std::span<std::byte> bytes) const;
    [[nodiscard]] std::string fab_head(const CellBox& box) const;
    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string cell_h(std::size_t level,
                                     const std::vector<Extremes>& extremes) const;
    [[nodiscard]] std::string particle_header() const;

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
