// SPDX-License-Identifier: Apache-2.0
#include "kernels/slab/inputs.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "formats/keys.hpp"
#include "runner/chunks.hpp"

namespace tailrace::kernels::slab {

using core::Config;

namespace {

std::vector<Axis> axes_of(const Config& config) {
    const std::string& word = config.text("axis");
    if (word == "long-fast") return {Axis::long_fast};
    if (word == "long-slow") return {Axis::long_slow};
    if (word == "short-split") return {Axis::short_split};
    return {Axis::long_fast, Axis::long_slow};
}

Geometry geometry_of(const Config& config, std::uint64_t ranks, std::uint64_t datasets) {
    const Geometry geometry{config.number("n1"), config.number("n2"), ranks};
    const core::Extents factors{geometry.n1, geometry.n2, element_bytes, datasets};
    if (runner::product(config, "n1", factors) > runner::largest_file_bytes)
        throw config.error("n1",
                           "an array of " + std::to_string(geometry.n1) + " x " +
                               std::to_string(geometry.n2) +
                               " elements is larger than any file can be (2^63 bytes)",
                           "make n1 or n2 smaller");
    return geometry;
}

std::optional<core::Extents> chunk_of(const Config& config, const Geometry& geometry) {
    if (!config.has("chunk")) return std::nullopt;
    const core::Extents& chunk = config.tuple("chunk");
    if (chunk[0] > geometry.n1 || chunk[1] > geometry.n2)
        throw config.error("chunk",
                           "a chunk of " + runner::by_x(chunk) + " is larger than the array, " +
                               runner::by_x({geometry.n1, geometry.n2}),
                           "choose a chunk of at most that; the part of a rank is a good one");
    runner::check_chunk_size(config, chunk, element_bytes);
    return chunk;
}

/// The original creates its file on one rank, before the clock.
void precreate_by_default(Inputs& inputs) {
    core::Config& config = inputs.config;
    const bool subfiles = config.has("subfile") && config.number("subfile") > 0;
    if (formats::in_use(config, "precreate") && !config.given("precreate") && !subfiles)
        config.derive("precreate", "1", "default of slab");
}

void put_chunks(Inputs& inputs) {
    runner::settle_chunk(inputs, inputs.chunk, "`chunk LONG SHORT`, with the part of a rank");
    if (!inputs.chunk) return;
    for (Axis axis : inputs.axes)
        inputs.options.set_chunk(Inputs::path_of(axis), inputs.chunk_of(axis));
}

}  // namespace

std::string Inputs::path_of(Axis axis) {
    switch (axis) {
        case Axis::long_fast:
            return "/dset_1";
        case Axis::long_slow:
            return "/dset_2";
        case Axis::short_split:
            break;
    }
    return "/dset_3";
}

core::Extents Inputs::chunk_of(Axis axis) const {
    if (!chunk) return {};
    return axis == Axis::long_fast ? core::Extents{(*chunk)[1], (*chunk)[0]} : *chunk;
}

std::uint64_t Inputs::reserve_bytes() const {
    if (filtered()) return 0;
    std::uint64_t bytes = 0;
    for (Axis axis : axes) {
        core::Extents factors = runner::padded(geometry.dims(axis), chunk_of(axis));
        factors.push_back(element_bytes);
        bytes = core::checked_add(bytes, core::checked_product(factors, "bytes of the chunks"),
                                  "bytes of the chunks");
    }
    return bytes;
}

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    inputs.axes = axes_of(inputs.config);
    inputs.geometry = geometry_of(inputs.config, ranks, inputs.axes.size());
    inputs.chunk = chunk_of(inputs.config, inputs.geometry);
    precreate_by_default(inputs);
    runner::take_shared(inputs);
    inputs.fill = inputs.config.text("fill") == "rank" ? FillKind::rank : FillKind::position;
    put_chunks(inputs);
    runner::settle(inputs);
    if (inputs.reserve_bytes() > runner::largest_file_bytes)
        throw inputs.config.error("chunk", "the padded chunks take more than 2^63 bytes",
                                  "choose a chunk that divides the array");
    return inputs;
}

}  // namespace tailrace::kernels::slab
