// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/native.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "core/checked.hpp"

namespace tailrace::kernels::amr {

namespace {

/// Of the order and size of bytes in a FAB: IEEE, 64 bits, the least byte first.
constexpr const char* real_format = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))";
constexpr std::uint64_t extreme_bytes = 24;  // "1.23456789012345678e-01,": fractions are that long
constexpr std::uint64_t numbers_at_once = 65536;
constexpr const char* none = "nobody";

std::string box_array(const std::vector<CellBox>& boxes) {
    std::string text = "(" + std::to_string(boxes.size()) + " 0\n";
    for (const CellBox& box : boxes) text += box.text() + "\n";
    return text + ")\n";
}

std::string folder_of(std::size_t level) { return "/Level_" + std::to_string(level) + "/"; }

void append_extremes(std::string& text, const std::vector<Extremes>& extremes,
                     std::vector<double> Extremes::*which, std::uint64_t components) {
    text += std::to_string(extremes.size()) + "," + std::to_string(components) + "\n";
    for (const Extremes& box : extremes) {
        for (const double value : box.*which) {
            append_scientific(text, value);
            text += ',';
        }
        text += '\n';
    }
    text += '\n';
}

}  // namespace

template <class Size>
NativeLayout::Spread NativeLayout::spread(const Level& level, std::string prefix,
                                          Size&& size) const {
    Spread spread;
    spread.prefix = std::move(prefix);
    spread.sizes.assign(static_cast<std::size_t>(x_files), 0);
    spread.files.resize(level.boxes.size());
    spread.offsets.resize(level.boxes.size());
    spread.boxes.resize(spread.sizes.size());
    for (const std::uint32_t box : level.by_rank()) {
        const std::uint64_t file = static_cast<std::uint64_t>(level.owners[box]) % x_files;
        std::uint64_t& end = spread.sizes[static_cast<std::size_t>(file)];
        spread.files[box] = file;
        spread.offsets[box] = end;
        const std::uint64_t bytes = size(box);
        if (bytes > 0) spread.boxes[static_cast<std::size_t>(file)].push_back(box);
        end = core::checked_add(end, bytes, spread.prefix);
    }
    return spread;
}

void NativeLayout::add_text(Kind kind, std::size_t level, const std::string& path,
                            std::uint64_t bytes) {
    x_texts.push_back({x_schema.objects.size(), kind, level});
    add_file(path, bytes, {Holds::text, level, 0});
}

void NativeLayout::add_file(const std::string& path, std::uint64_t bytes, const Where& where) {
    x_where.push_back(where);
    x_schema.objects.push_back({path, core::Scalar::u8, {{bytes, false}}, core::Kind::bytes});
}

void NativeLayout::add_files(Spread& spread, Holds holds, std::size_t level) {
    for (std::uint64_t file = 0; file < spread.sizes.size(); ++file) {
        spread.objects.push_back(x_schema.objects.size());
        if (const std::uint64_t bytes = spread.sizes[static_cast<std::size_t>(file)]; bytes > 0)
            add_file(numbered(spread.prefix, file), bytes,
                     {holds, level, static_cast<std::size_t>(file)});
    }
}

NativeLayout::NativeLayout(const Plot& plot, const Fill& fill, const Particles* particles,
                           std::uint64_t files)
    : x_plot(plot),
      x_fill(fill),
      x_particles(particles),
      x_files(std::clamp<std::uint64_t>(files, 1, plot.mesh.ranks)) {
    check(plot);
    const std::vector<Level>& levels = plot.mesh.levels;
    add_text(Kind::header, 0, "/Header", header().size());
    for (std::size_t level = 0; level < levels.size(); ++level) {
        x_cells.push_back(spread(levels[level], folder_of(level) + "Cell_D_", [&](auto box) {
            return core::checked_add(
                fab_head(levels[level].boxes[box]).size(),
                core::checked_mul(plot.elements(level, box), sizeof(double), none), none);
        }));
        const std::uint64_t rows = 2 * levels[level].boxes.size();
        add_text(Kind::cell_h, level, folder_of(level) + "Cell_H",
                 cell_h(level, std::vector<Extremes>(levels[level].boxes.size())).size() +
                     core::checked_mul(rows, plot.components * extreme_bytes, "ncomp"));
        add_files(x_cells.back(), Holds::cells, level);
    }
    if (particles == nullptr) return;
    for (std::size_t level = 0; level < levels.size(); ++level)
        x_points.push_back(
            spread(levels[level], "/particle0" + folder_of(level) + "DATA_", [&](auto box) {
                return core::checked_mul(particles->count(level, box), particle_bytes, "nppc");
            }));
    add_text(Kind::particle_header, 0, "/particle0/Header", particle_header().size());
    for (std::size_t level = 0; level < levels.size(); ++level) {
        if (std::ranges::all_of(x_points[level].sizes, [](auto bytes) { return bytes == 0; }))
            continue;
        add_text(Kind::particle_h, level, "/particle0" + folder_of(level) + "Particle_H",
                 box_array(levels[level].boxes).size());
        add_files(x_points[level], Holds::particles, level);
    }
}

std::string NativeLayout::fab_head(const CellBox& box) const {
    return std::string("FAB ") + real_format + box.text() + " " +
           std::to_string(x_plot.components) + "\n";
}

std::string NativeLayout::header() const {
    const Mesh& mesh = x_plot.mesh;
    const std::string step = std::to_string(x_plot.step);
    std::string time, text = "HyperCLaw-V1.1\n" + std::to_string(x_plot.components) + "\n";
    append_general(time, x_plot.time);
    for (std::uint64_t c = 0; c < x_plot.components; ++c) text += Plot::component(c) + "\n";
    text += "3\n" + time + "\n" + std::to_string(mesh.levels.size() - 1) + "\n0 0 0 \n";
    const auto numbers = [&](const std::array<double, 3>& values) {
        for (const double value : values) {
            append_general(text, value);
            text += ' ';
        }
        text += '\n';
    };
    numbers(mesh.prob_hi());
    for (std::size_t level = 1; level < mesh.levels.size(); ++level)
        text += std::to_string(mesh.ref_ratio) + " ";
    text += '\n';
    for (const Level& level : mesh.levels) text += level.domain.text() + " ";
    text += '\n';
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) text += step + " ";
    text += '\n';
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) numbers(mesh.cell_size(level));
    text += "0\n0\n";  // Cartesian, without a boundary
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) {
        const std::vector<CellBox>& boxes = mesh.levels[level].boxes;
        const std::array<double, 3> size = mesh.cell_size(level);
        text += std::to_string(level) + " " + std::to_string(boxes.size()) + " " + time + "\n" +
                step + "\n";
        // Most boxes share their coordinates with others: each is put into words once.
        std::array<std::map<std::int32_t, std::string>, 3> words;
        const auto word = [&](std::size_t d, std::int32_t cell) -> const std::string& {
            std::string& known = words[d][cell];
            if (known.empty()) append_general(known, size[d] * cell);
            return known;
        };
        for (const CellBox& box : boxes)
            for (std::size_t d = 0; d < 3; ++d)
                text.append(word(d, box.lo[d])).append(1, ' ').append(word(d, box.hi[d] + 1)) +=
                    '\n';
        text += "Level_" + std::to_string(level) + "/Cell\n";
    }
    return text;
}

std::string NativeLayout::cell_h(std::size_t level, const std::vector<Extremes>& extremes) const {
    const std::vector<CellBox>& boxes = x_plot.mesh.levels[level].boxes;
    const Spread& cells = x_cells[level];
    std::string text = "1\n1\n" + std::to_string(x_plot.components) + "\n0\n";
    text += box_array(boxes) + std::to_string(boxes.size()) + "\n";
    for (std::size_t box = 0; box < boxes.size(); ++box)
        text += "FabOnDisk: " + numbered("Cell_D_", cells.files[box]) + " " +
                std::to_string(cells.offsets[box]) + "\n";
    text += '\n';
    append_extremes(text, extremes, &Extremes::least, x_plot.components);
    append_extremes(text, extremes, &Extremes::most, x_plot.components);
    return text;
}

std::string NativeLayout::particle_header() const {
    std::string text = "Version_Two_Dot_Zero_double\n3\n";
    text += std::to_string(particle_reals) + "\n";
    for (std::size_t c = 0; c < particle_reals; ++c)
        text += "particle_real_component_" + std::to_string(c) + "\n";
    text += std::to_string(particle_ints) + "\n";
    for (std::size_t c = 0; c < particle_ints; ++c)
        text += "particle_int_component_" + std::to_string(c) + "\n";
    text += "1\n" + std::to_string(x_particles->count()) + "\n" +
            std::to_string(x_particles->next_id()) + "\n" +
            std::to_string(x_plot.mesh.levels.size() - 1) + "\n";
    for (const Level& level : x_plot.mesh.levels) text += std::to_string(level.boxes.size()) + "\n";
    for (std::size_t level = 0; level < x_points.size(); ++level)
        for (std::size_t box = 0; box < x_points[level].files.size(); ++box)
            text += std::to_string(x_points[level].files[box]) + " " +
                    std::to_string(x_particles->count(level, box)) + " " +
                    std::to_string(x_points[level].offsets[box]) + "\n";
    return text;
}

std::uint64_t NativeLayout::head_bytes(std::size_t level, std::uint32_t box) const {
    return fab_head(x_plot.mesh.levels[level].boxes[box]).size();
}

run::Piece NativeLayout::of_box(std::size_t level, std::uint32_t box) const {
    const Spread& cells = x_cells[level];
    return {cells.objects[static_cast<std::size_t>(cells.files[box])],
            {{cells.offsets[box]},
             {head_bytes(level, box) + x_plot.elements(level, box) * sizeof(double)}}};
}

run::Piece NativeLayout::of_particles(std::size_t level, std::uint32_t box) const {
    if (x_particles == nullptr || x_particles->count(level, box) == 0) return {0, {{0}, {0}}};
    const Spread& points = x_points[level];
    return {points.objects[static_cast<std::size_t>(points.files[box])],
            {{points.offsets[box]}, {x_particles->count(level, box) * particle_bytes}}};
}

void NativeLayout::fab(std::size_t level, std::uint32_t box, std::uint64_t from,
                       std::span<std::byte> bytes) const {
    const CellBox& cells = x_plot.mesh.levels[level].boxes[box];
    const std::string head = fab_head(cells);
    if (from < head.size()) {
        const auto count = std::min<std::size_t>(head.size() - from, bytes.size());
        std::memcpy(bytes.data(), head.data() + from, count);
        bytes = bytes.subspan(count);
        from = head.size();
    }
    std::vector<double> some;  // numbers need not lie at multiples of 8 there
    for (std::uint64_t at = from - head.size(); !bytes.empty();) {
        const std::uint64_t first = at / sizeof(double), within = at % sizeof(double);
        const std::uint64_t most = (within + bytes.size() + sizeof(double) - 1) / sizeof(double);
        some.resize(static_cast<std::size_t>(std::min(most, numbers_at_once)));
        x_fill.values(x_plot.step, level, cells, some, first);
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>(some.size() * sizeof(double) - within, bytes.size()));
        std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(some.data()) + within, count);
        bytes = bytes.subspan(count);
        at += count;
    }
}

void NativeLayout::values(std::size_t object, const core::Box& place,
                          std::span<std::byte> bytes) const {
    const auto& [holds, level, file] = x_where[object];
    const Spread& spread = holds == Holds::cells ? x_cells[level] : x_points[level];
    const std::vector<std::uint32_t>& boxes = spread.boxes[file];
    std::uint64_t at = place.offset[0];
    auto box =
        std::ranges::upper_bound(boxes, at, {}, [&](auto one) { return spread.offsets[one]; });
    std::vector<std::byte> all;
    for (--box; !bytes.empty(); ++box) {
        const std::uint64_t begin = spread.offsets[*box];
        const std::uint64_t end =
            box + 1 == boxes.end() ? spread.sizes[file] : spread.offsets[*(box + 1)];
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(end - at, bytes.size()));
        if (holds == Holds::cells) {
            fab(level, *box, at - begin, bytes.first(count));
        } else if (at == begin && count == end - begin) {
            x_particles->records(x_plot.step, level, *box, bytes.first(count));
        } else {
            all.resize(static_cast<std::size_t>(end - begin));
            x_particles->records(x_plot.step, level, *box, all);
            std::memcpy(bytes.data(), all.data() + (at - begin), count);
        }
        bytes = bytes.subspan(count);
        at += count;
    }
}

std::vector<run::LatePiece> NativeLayout::texts(
    const std::vector<std::vector<Extremes>>& extremes) const {
    const auto text_of = [&](const Text& text) {
        switch (text.kind) {
            case Kind::header:
                return header();
            case Kind::cell_h:
                return cell_h(text.level, extremes[text.level]);
            case Kind::particle_header:
                return particle_header();
            case Kind::particle_h:
                break;
        }
        return box_array(x_plot.mesh.levels[text.level].boxes);
    };
    std::vector<run::LatePiece> parts;
    for (const Text& wanted : x_texts) {
        std::string text = text_of(wanted);
        const core::Object& object = x_schema.objects[wanted.object];
        if (text.size() != object.dims[0].size)
            throw core::Error(core::Code::wrong_call,
                              "its text has " + std::to_string(text.size()) + " bytes, not " +
                                  std::to_string(object.dims[0].size),
                              object.path, "give extremes of all boxes, fractions in [0, 1)");
        parts.push_back({wanted.object, 0, std::move(text)});
    }
    return parts;
}

std::uint64_t NativeLayout::text_bytes() const {
    std::uint64_t bytes = 0;
    for (const Text& text : x_texts) bytes += x_schema.objects[text.object].bytes();
    return bytes;
}

}  // namespace tailrace::kernels::amr
