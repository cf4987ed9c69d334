// SPDX-License-Identifier: Apache-2.0
// Objects in memory that take what a layout gives, as any Sink would.
#pragma once

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/amr/fill.hpp"
#include "kernels/amr/layout.hpp"
#include "kernels/amr/native.hpp"

namespace test {

using namespace tailrace;
using namespace tailrace::kernels::amr;

/// What a rank of the mesh writes.
inline std::vector<runner::Piece> pieces_of(const Layout& layout, const Mesh& mesh,
                                            std::uint64_t rank) {
    std::vector<std::span<const std::int32_t>> owners;
    for (const Level& level : mesh.levels) owners.emplace_back(level.owners);
    return kernels::amr::pieces_of(layout, owners, rank);
}

class Files {
public:
    explicit Files(const core::Schema& schema) : x_objects(schema.objects) {
        for (const core::Object& object : x_objects) {
            x_bytes.emplace_back(static_cast<std::size_t>(object.bytes()), '\0');
            x_times.emplace_back(x_bytes.back().size(), 0);
        }
    }

    void take(const Layout& layout, const Mesh& mesh) {
        for (std::uint64_t rank = 0; rank < mesh.ranks; ++rank)
            for (const runner::Piece& piece : test::pieces_of(layout, mesh, rank)) {
                const std::size_t width =
                    static_cast<std::size_t>(core::size_of(x_objects[piece.object].type));
                std::vector<std::byte> data(static_cast<std::size_t>(piece.place.volume()) * width);
                layout.values(piece.object, piece.place, data);
                put(piece, data);
            }
    }
    void take(const std::vector<runner::LatePiece>& texts) {
        for (const auto& text : texts)
            put({text.object, {{text.offset}, {text.bytes.size()}}},
                std::vector<std::byte>(
                    reinterpret_cast<const std::byte*>(text.bytes.data()),
                    reinterpret_cast<const std::byte*>(text.bytes.data()) + text.bytes.size()));
    }

    [[nodiscard]] bool every_byte_once() const {
        for (const auto& times : x_times)
            for (const int time : times)
                if (time != 1) return false;
        return true;
    }
    [[nodiscard]] std::size_t objects() const { return x_objects.size(); }
    [[nodiscard]] const std::string& text(std::size_t object) const { return x_bytes[object]; }

private:
    void put(const runner::Piece& part, const std::vector<std::byte>& data) {
        const core::Object& object = x_objects[part.object];
        if (!part.place.inside(object.sizes()) ||
            part.place.volume() * core::size_of(object.type) != data.size())
            throw std::runtime_error(object.path + ": the data is not as large as its place");
        const std::size_t width = static_cast<std::size_t>(core::size_of(object.type));
        core::for_each_run(part.place, object.sizes(), [&](auto at, auto from, auto count) {
            std::memcpy(&x_bytes[part.object][at * width], &data[from * width], count * width);
            for (std::size_t i = 0; i < count * width; ++i) ++x_times[part.object][at * width + i];
        });
    }
    std::vector<core::Object> x_objects;
    std::vector<std::string> x_bytes;
    std::vector<std::vector<int>> x_times;
};

/// By level, of the boxes of a share.
inline std::vector<Extremes> extremes_of(const Fill& fill, const Mesh& mesh, const Share& share) {
    std::vector<Extremes> all;
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) {
        all.emplace_back();
        const std::span<const CellBox> boxes = mesh.levels[level].boxes;
        for (const CellBox& box :
             boxes.subspan(share.first(boxes.size()), share.of(boxes.size()))) {
            std::vector<double> values(static_cast<std::size_t>(box.cells() * fill.components()));
            fill.values(0, level, box, values);
            const Extremes one =
                kernels::amr::extremes_of(std::as_bytes(std::span(values)), fill.components());
            all.back().least.insert(all.back().least.end(), one.least.begin(), one.least.end());
            all.back().most.insert(all.back().most.end(), one.most.begin(), one.most.end());
        }
    }
    return all;
}

/// The texts as several ranks make them.
inline std::vector<runner::LatePiece> texts_of(const NativeLayout& layout, const Fill& fill,
                                               const Mesh& mesh, std::uint64_t ranks) {
    std::vector<std::vector<runner::LatePiece>> parts;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        parts.push_back(layout.texts({rank, ranks}, extremes_of(fill, mesh, {rank, ranks})));
        for (const auto& part : parts.back()) sizes.push_back(part.bytes.size());
    }
    std::vector<runner::LatePiece> all;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        auto& mine = parts[static_cast<std::size_t>(rank)];
        layout.put_in_place(mine, {rank, ranks}, sizes);
        all.insert(all.end(), mine.begin(), mine.end());
    }
    return all;
}

/// "x_0\nx_1\n"
inline std::string lines(const std::string& prefix, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += prefix + std::to_string(i) + "\n";
    return text;
}

}  // namespace test
