// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/layout.hpp"

#include <cstring>

#include "kernels/particle/fill.hpp"

namespace tailrace::kernels::particle {

namespace {

void interleave(std::span<const std::byte> separate, std::span<std::byte> particles) {
    const std::size_t count = separate.size() / particle_bytes;
    for (std::size_t v = 0; v < variables.size(); ++v)
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(&particles[i * particle_bytes + v * element_bytes],
                        &separate[(v * count + i) * element_bytes], element_bytes);
}

void separate(std::span<const std::byte> particles, std::span<std::byte> separate) {
    const std::size_t count = particles.size() / particle_bytes;
    for (std::size_t v = 0; v < variables.size(); ++v)
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(&separate[(v * count + i) * element_bytes],
                        &particles[i * particle_bytes + v * element_bytes], element_bytes);
}

}  // namespace

std::string Layout::path(std::size_t object) const {
    const std::string group = "/Timestep_" + std::to_string(object / objects_per_step()) + "/";
    if (file == Pattern::interleaved) return group + "particles";
    return group + std::string(variables[object % variables.size()]);
}

// h5bench's identifier of a particle is a whole number, in a compound too.
core::Scalar Layout::type_of_variable(std::size_t variable) const noexcept {
    const bool separate = file == Pattern::contig || compounds;
    return separate && variable == whole_variable ? core::Scalar::i32 : core::Scalar::f32;
}

core::Scalar Layout::type(std::size_t object) const {
    return file == Pattern::contig ? type_of_variable(object % variables.size())
                                   : core::Scalar::f32;
}

core::Extents Layout::dims() const {
    core::Extents dims = geometry.dims();
    if (file == Pattern::interleaved) dims.push_back(variables.size());
    return dims;
}

std::string Layout::axes() const {
    std::string text = "dim_1";
    for (std::size_t d = 1; d < geometry.per_rank.size(); ++d)
        text += ", dim_" + std::to_string(d + 1);
    return text + (file == Pattern::interleaved ? ", variable" : "");
}

core::Object Layout::object(std::size_t index) const {
    core::Object object;
    object.path = path(index);
    object.type = type(index);
    for (const std::uint64_t extent : dims()) object.dims.push_back({extent, false});
    for (std::size_t v = 0; compounds && v < variables.size(); ++v)
        object.members.push_back({std::string(variables[v]), type_of_variable(v)});
    return object;
}

std::vector<runner::Piece> Layout::pieces(std::uint64_t step,
                                          const std::vector<core::Box>& places) const {
    std::vector<runner::Piece> pieces;
    const auto first = static_cast<std::size_t>(step) * objects_per_step();
    const auto add = [&](std::size_t object, std::uint64_t from, std::uint64_t count) {
        for (const core::Box& place : places) {
            pieces.push_back({object, place});
            if (file == Pattern::contig) continue;
            pieces.back().place.offset.push_back(from);
            pieces.back().place.count.push_back(count);
        }
    };
    if (file == Pattern::contig)
        for (std::size_t v = 0; v < variables.size(); ++v) add(first + v, 0, 1);
    else if (by_variable)
        for (std::size_t v = 0; v < variables.size(); ++v) add(first, v, 1);
    else
        add(first, 0, variables.size());
    return pieces;
}

void Layout::values(std::size_t object, const core::Box& place, std::span<std::byte> values) const {
    const std::uint64_t step = object / objects_per_step();
    if (place.empty()) return;
    if (file == Pattern::contig) {
        fill_variable(step, object % variables.size(), type(object), geometry.dims(), place,
                      values);
        for (std::uint64_t i = 0; geometry.blocks && i < place.count.front(); ++i)
            if (!geometry.writes((place.offset.front() + i) % geometry.per_rank.front()))
                std::memset(&values[static_cast<std::size_t>(i * element_bytes)], 0, element_bytes);
        return;
    }
    core::Box particles = place;
    particles.offset.pop_back();
    particles.count.pop_back();
    const std::uint64_t width = place.count.back();
    for (std::uint64_t k = 0; k < width; ++k) {
        const auto variable = static_cast<std::size_t>(place.offset.back() + k);
        fill_variable(step, variable, type_of_variable(variable), geometry.dims(), particles,
                      values.subspan(static_cast<std::size_t>(k * element_bytes)), width);
    }
}

void Layout::keep(std::span<const std::byte> packed, std::span<std::byte> kept) const {
    if (memory == Pattern::interleaved)
        interleave(packed, kept);
    else
        separate(packed, kept);
}

void Layout::pack(std::span<const std::byte> kept, std::span<std::byte> packed) const {
    if (memory == Pattern::interleaved)
        separate(kept, packed);
    else
        interleave(kept, packed);
}

}  // namespace tailrace::kernels::particle
