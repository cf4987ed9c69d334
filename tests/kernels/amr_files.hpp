// SPDX-License-Identifier: Apache-2.0
// Objects in memory that take what a layout gives, as any Sink would.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/amr/fill.hpp"
#include "kernels/amr/layout.hpp"

namespace test {

using namespace tailrace;
using namespace tailrace::kernels::amr;

class Files {
public:
    Files(const core::Schema& schema, const Mesh& mesh) : x_mesh(mesh), x_objects(schema.objects) {
        for (const core::Object& object : x_objects) {
            x_bytes.emplace_back(static_cast<std::size_t>(object.bytes()), '\0');
            x_times.emplace_back(x_bytes.back().size(), 0);
        }
    }

    /// @param particles  may be nullptr if no part holds any
    void take(const std::vector<Part>& parts, const Fill& fill, const Particles* particles,
              std::uint64_t step) {
        for (const Part& part : parts) {
            std::vector<std::byte> data = part.bytes;
            for (const std::uint32_t box : part.boxes) {
                std::vector<std::byte> more;
                if (part.holds == Part::Holds::values) {
                    const CellBox& cells = x_mesh.levels[part.level].boxes[box];
                    std::vector<double> values(
                        static_cast<std::size_t>(cells.cells() * fill.components()));
                    fill.values(step, part.level, cells, values);
                    const auto bytes = std::as_bytes(std::span(values));
                    more.assign(bytes.begin(), bytes.end());
                } else {
                    more.resize(static_cast<std::size_t>(particles->count(part.level, box) *
                                                         particle_bytes));
                    particles->records(step, part.level, box, more);
                }
                data.insert(data.end(), more.begin(), more.end());
            }
            put(part, data);
        }
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
    void put(const Part& part, const std::vector<std::byte>& data) {
        const core::Object& object = x_objects[part.object];
        if (!part.place.inside(object.sizes()) ||
            part.place.volume() * core::size_of(part.type) != data.size())
            throw std::runtime_error(object.path + ": the data is not as large as its place");
        const std::size_t width = static_cast<std::size_t>(core::size_of(part.type));
        core::for_each_run(part.place, object.sizes(), [&](auto at, auto from, auto count) {
            std::memcpy(&x_bytes[part.object][at * width], &data[from * width], count * width);
            for (std::size_t i = 0; i < count * width; ++i) ++x_times[part.object][at * width + i];
        });
    }
    const Mesh& x_mesh;
    std::vector<core::Object> x_objects;
    std::vector<std::string> x_bytes;
    std::vector<std::vector<int>> x_times;
};

inline std::vector<std::vector<Extremes>> extremes_of(const Fill& fill, const Mesh& mesh,
                                                      std::uint64_t step) {
    std::vector<std::vector<Extremes>> all;
    for (std::size_t level = 0; level < mesh.levels.size(); ++level) {
        all.emplace_back();
        for (const CellBox& box : mesh.levels[level].boxes) {
            std::vector<double> values(static_cast<std::size_t>(box.cells() * fill.components()));
            fill.values(step, level, box, values);
            all.back().push_back(kernels::amr::extremes_of(values, fill.components()));
        }
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
