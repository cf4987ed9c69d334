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

class NativeLayout {
public:
    /// @param particles  for the checkpoint `particle0`; nullptr: none. Mesh and particles outlive
    ///                   the layout.
    /// @param files      of boxes per level at most; the ranks of one file lie one behind the other
    /// @throws core::Error{bad_input}
    NativeLayout(const Plot& plot, const Particles* particles, std::uint64_t files);

    [[nodiscard]] core::Schema schema() const;  ///< [local]
    /// Boxes and particles of a rank.  [local]
    [[nodiscard]] std::vector<Part> data_of(std::uint64_t rank) const;
    /// The texts; one rank writes them.  [local]
    /// @param extremes  by level and box
    /// @throws core::Error{wrong_call} if they are longer than schema() says
    [[nodiscard]] std::vector<Part> texts(const std::vector<std::vector<Extremes>>& extremes) const;

private:
    /// Boxes of a level, or their particles, in numbered files.
    struct Spread {
        std::string prefix;                  ///< "/Level_0/Cell_D_"
        std::vector<std::uint64_t> sizes;    ///< by file
        std::vector<std::uint64_t> files;    ///< the file of each box
        std::vector<std::uint64_t> offsets;  ///< and where it begins there
        std::vector<std::size_t> objects;    ///< by file; an empty one has none
    };

    template <class Size>
    [[nodiscard]] Spread spread(const Level& level, std::string prefix, Size&& size) const;
    void add_files(Spread& spread);
    enum class Kind { header, cell_h, particle_header, particle_h };
    struct Text {
        std::size_t object;
        Kind kind;
        std::size_t level;
    };
    void add_text(Kind kind, std::size_t level, const std::string& path, std::uint64_t bytes);
    void add_file(const std::string& path, std::uint64_t bytes);
    [[nodiscard]] std::string fab_head(const CellBox& box) const;
    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string cell_h(std::size_t level,
                                     const std::vector<Extremes>& extremes) const;
    [[nodiscard]] std::string particle_header() const;

    Plot x_plot;
    const Particles* x_particles;
    std::uint64_t x_files;
    core::Schema x_schema;
    std::vector<Text> x_texts;
    std::vector<Spread> x_cells, x_points;  ///< by level
};

}  // namespace tailrace::kernels::amr
