// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/native.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/checked.hpp"

namespace tailrace::kernels::amr {

namespace {

/// Of the order and size of bytes in a FAB: IEEE, 64 bits, the least byte first.
constexpr const char* real_format = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))";
constexpr std::uint64_t extreme_bytes = 24;  // "1.23456789012345678e-01,": fractions are that long
constexpr std::uint64_t boxes_at_least = 4096;  // that are worth a rank of their own for the texts
constexpr std::uint64_t numbers_at_once = 65536;
constexpr const char* none = "nobody";

/// Most boxes share their coordinates with others, mostly with the one before: each is put into
/// words once.
class Words {
public:
    explicit Words(const std::array<double, 3>& cell_size) : x_size(cell_size) {}
    const std::string& of(std::size_t axis, std::size_t end, std::int32_t cell) {
        auto& [last, word] = x_last[axis][end];
        if (word != nullptr && last == cell) return *word;
        std::string& known = x_known[axis][cell];
        if (known.empty()) append_general(known, x_size[axis] * cell);
        last = cell;
        word = &known;
        return known;
    }

private:
    std::array<double, 3> x_size;
    std::array<std::unordered_map<std::int32_t, std::string>, 3> x_known;
    std::array<std::array<std::pair<std::int32_t, const std::string*>, 2>, 3> x_last{};
};

void add_line(std::vector<NativeLayout::Rows>& all, std::string line) {
    all.push_back({1, [line = std::move(line)](std::string& text, std::size_t) { text += line; }});
}

std::string folder_of(std::size_t level) { return "/Level_" + std::to_string(level) + "/"; }

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

void NativeLayout::add_text(Kind kind, std::size_t level, const std::string& path) {
    x_texts.push_back({x_schema.objects.size(), kind, level});
    std::uint64_t bytes = 0;
    std::string row;
    for (const Rows& rows : rows_of(x_texts.back(), nullptr, 0)) {
        if (rows.width > 0)
            bytes = core::checked_add(bytes, core::checked_mul(rows.count, rows.width, "ncomp"),
                                      "ncomp");
        for (std::size_t i = 0; rows.width == 0 && i < rows.count; ++i, row.clear()) {
            rows.append(row, i);
            bytes += row.size();
        }
    }
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
    add_text(Kind::header, 0, "/Header");
    for (std::size_t level = 0; level < levels.size(); ++level) {
        x_cells.push_back(spread(levels[level], folder_of(level) + "Cell_D_", [&](auto box) {
            return core::checked_add(
                fab_head(levels[level].boxes[box]).size(),
                core::checked_mul(plot.elements(level, box), sizeof(double), none), none);
        }));
        add_text(Kind::cell_h, level, folder_of(level) + "Cell_H");
        add_files(x_cells.back(), Holds::cells, level);
    }
    if (particles == nullptr) return;
    for (std::size_t level = 0; level < levels.size(); ++level)
        x_points.push_back(
            spread(levels[level], "/particle0" + folder_of(level) + "DATA_", [&](auto box) {
                return core::checked_mul(particles->count(level, box), particle_bytes, "nppc");
            }));
    add_text(Kind::particle_header, 0, "/particle0/Header");
    for (std::size_t level = 0; level < levels.size(); ++level) {
        if (std::ranges::all_of(x_points[level].sizes, [](auto bytes) { return bytes == 0; }))
            continue;
        add_text(Kind::particle_h, level, "/particle0" + folder_of(level) + "Particle_H");
        add_files(x_points[level], Holds::particles, level);
    }
}

std::string NativeLayout::fab_head(const CellBox& box) const {
    return std::string("FAB ") + real_format + box.text() + " " +
           std::to_string(x_plot.components) + "\n";
}

std::string NativeLayout::header_head() const {
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
    return text;
}

void NativeLayout::add_header(std::vector<Rows>& all) const {
    const Mesh& mesh = x_plot.mesh;
    std::string time;
    append_general(time, x_plot.time);
    add_line(all, header_head());
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) {
        const std::vector<CellBox>& boxes = mesh.levels[level].boxes;
        add_line(all, std::to_string(level) + " " + std::to_string(boxes.size()) + " " + time +
                          "\n" + std::to_string(x_plot.step) + "\n");
        all.push_back({boxes.size(), [&boxes, words = std::make_shared<Words>(mesh.cell_size(
                                                  level))](std::string& text, std::size_t box) {
                           for (std::size_t d = 0; d < 3; ++d) {
                               text.append(words->of(d, 0, boxes[box].lo[d])) += ' ';
                               text.append(words->of(d, 1, boxes[box].hi[d] + 1)) += '\n';
                           }
                       }});
        add_line(all, "Level_" + std::to_string(level) + "/Cell\n");
    }
}

void NativeLayout::add_boxes(std::vector<Rows>& all, std::size_t level) const {
    const std::vector<CellBox>& boxes = x_plot.mesh.levels[level].boxes;
    add_line(all, "(" + std::to_string(boxes.size()) + " 0\n");
    all.push_back({boxes.size(), [&boxes](std::string& text, std::size_t box) {
                       boxes[box].append_text(text);
                       text += '\n';
                   }});
    add_line(all, ")\n");
}

void NativeLayout::add_cell_h(std::vector<Rows>& all, std::size_t level, const Extremes* extremes,
                              std::size_t first) const {
    const std::size_t boxes = x_plot.mesh.levels[level].boxes.size();
    const auto components = static_cast<std::size_t>(x_plot.components);
    const std::string count = std::to_string(boxes);
    add_line(all, "1\n1\n" + std::to_string(components) + "\n0\n");
    add_boxes(all, level);
    add_line(all, count + "\n");
    all.push_back({boxes, [&cells = x_cells[level]](std::string& text, std::size_t box) {
                       text.append("FabOnDisk: ").append(numbered("Cell_D_", cells.files[box]));
                       append_whole(text += ' ', cells.offsets[box]);
                       text += '\n';
                   }});
    for (const auto which : {&Extremes::least, &Extremes::most}) {
        add_line(all, "\n" + count + "," + std::to_string(components) + "\n");
        all.push_back({boxes,
                       [=](std::string& text, std::size_t box) {
                           const double* values =
                               (extremes->*which).data() + (box - first) * components;
                           for (std::size_t c = 0; c < components; ++c) {
                               append_scientific(text, values[c]);
                               text += ',';
                           }
                           text += '\n';
                       },
                       components * extreme_bytes + 1});
    }
    add_line(all, "\n");
}

void NativeLayout::add_particle_header(std::vector<Rows>& all) const {
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
    add_line(all, text);
    for (std::size_t level = 0; level < x_points.size(); ++level)
        all.push_back({x_points[level].files.size(), [this, level](std::string& row, auto box) {
                           append_whole(row, x_points[level].files[box]);
                           append_whole(row += ' ', x_particles->count(level, box));
                           append_whole(row += ' ', x_points[level].offsets[box]);
                           row += '\n';
                       }});
}

std::vector<NativeLayout::Rows> NativeLayout::rows_of(const Text& text, const Extremes* extremes,
                                                      std::size_t first) const {
    std::vector<Rows> rows;
    switch (text.kind) {
        case Kind::header:
            add_header(rows);
            break;
        case Kind::cell_h:
            add_cell_h(rows, text.level, extremes, first);
            break;
        case Kind::particle_header:
            add_particle_header(rows);
            break;
        case Kind::particle_h:
            add_boxes(rows, text.level);
            break;
    }
    return rows;
}

std::uint64_t NativeLayout::head_bytes(std::size_t level, std::uint32_t box) const {
    return fab_head(x_plot.mesh.levels[level].boxes[box]).size();
}

runner::Piece NativeLayout::of_box(std::size_t level, std::uint32_t box) const {
    const Spread& cells = x_cells[level];
    return {cells.objects[static_cast<std::size_t>(cells.files[box])],
            {{cells.offsets[box]},
             {head_bytes(level, box) + x_plot.elements(level, box) * sizeof(double)}}};
}

runner::Piece NativeLayout::of_particles(std::size_t level, std::uint32_t box) const {
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

std::uint64_t NativeLayout::text_ranks() const {
    std::uint64_t boxes = 0;
    for (const Level& level : x_plot.mesh.levels) boxes += level.boxes.size();
    return std::clamp<std::uint64_t>(boxes / boxes_at_least, 1, x_plot.mesh.ranks);
}

std::vector<runner::LatePiece> NativeLayout::texts(const Share& share,
                                                   std::span<const Extremes> extremes) const {
    std::vector<runner::LatePiece> parts;
    for (const Text& text : x_texts) {
        const std::size_t boxes = x_plot.mesh.levels[text.level].boxes.size();
        const std::uint64_t numbers = share.of(boxes) * x_plot.components;
        const Extremes& mine = extremes[text.level];
        if (text.kind == Kind::cell_h &&
            (mine.least.size() != numbers || mine.most.size() != numbers))
            throw core::Error(core::Code::wrong_call, "not the extremes of all its boxes",
                              x_schema.objects[text.object].path, "give those of the share");
        for (const Rows& rows : rows_of(text, &mine, share.first(boxes))) {
            parts.push_back({text.object, 0, {}});
            std::string& bytes = parts.back().bytes;
            const std::size_t first = share.first(rows.count), count = share.of(rows.count);
            for (std::size_t i = 0; i < count; ++i) {
                rows.append(bytes, first + i);
                if (i == 0) bytes.reserve(bytes.size() * (count + count / 8));  // rows are alike
            }
        }
    }
    return parts;
}

void NativeLayout::put_in_place(std::vector<runner::LatePiece>& texts, const Share& share,
                                std::span<const std::uint64_t> sizes) const {
    std::vector<std::uint64_t> ends(x_schema.objects.size(), 0);
    for (std::size_t part = 0; part < texts.size(); ++part)
        for (std::uint64_t rank = 0; rank < share.ranks; ++rank) {
            std::uint64_t& end = ends[texts[part].object];
            if (rank == share.rank) texts[part].offset = end;
            end += sizes[static_cast<std::size_t>(rank) * texts.size() + part];
        }
    for (const Text& text : x_texts)
        if (const core::Object& object = x_schema.objects[text.object];
            ends[text.object] != object.dims[0].size)
            throw core::Error(core::Code::wrong_call,
                              "its text has " + std::to_string(ends[text.object]) + " bytes, not " +
                                  std::to_string(object.dims[0].size),
                              object.path, "give extremes that are fractions in [0, 1)");
    std::erase_if(texts, [](const runner::LatePiece& piece) { return piece.bytes.empty(); });
}

}  // namespace tailrace::kernels::amr
