// SPDX-License-Identifier: Apache-2.0
#include "kernels/slab/text.hpp"

#include "core/units.hpp"
#include "runner/text.hpp"

namespace tailrace::kernels::slab {

using runner::labelled;

namespace {

std::string what(Axis axis) {
    switch (axis) {
        case Axis::long_fast:
            return "long dimension fast, ranks share it";
        case Axis::long_slow:
            return "long dimension slow, ranks share it";
        case Axis::short_split:
            break;
    }
    return "long dimension slow, ranks share the short one";
}

/// Both readings of "GB": 10^9 and 2^30 bytes a second.
std::string bandwidth(std::uint64_t bytes, double seconds) {
    const double rate = runner::rate(bytes, seconds);
    if (rate <= 0) return "no time passed";
    return core::digits(rate / 1e9) + " GB/s (" + core::digits(rate / 1073741824.0) + " GiB/s)";
}

std::string driver_text(const Inputs& inputs) {
    return inputs.collective() ? "collective" : "independent";
}

}  // namespace

std::string echo_text(const Inputs& inputs) {
    const Geometry& geometry = inputs.geometry;
    std::string text =
        std::string(80, '=') + "\n" +
        labelled("Number of processes", std::to_string(geometry.ranks)) +
        labelled("Array (long x short)", runner::by_x({geometry.n1, geometry.n2}) + " float64") +
        labelled("Driver requested", driver_text(inputs)) +
        labelled("Chunk (long x short)",
                 inputs.chunk ? runner::by_x(*inputs.chunk) : "none (contiguous)");
    for (Axis axis : inputs.axes) {
        text +=
            labelled("Dataset " + Inputs::path_of(axis).substr(1), what(axis)) +
            labelled("  extents in the file", runner::by_x(geometry.dims(axis)) + ", slow x fast");
        if (!inputs.chunk)
            text +=
                labelled("  smallest contiguous piece",
                         core::bytes_text(geometry.smallest_piece(axis)) + "; " +
                             std::to_string(geometry.pieces_per_rank(axis)) + " pieces on rank 0");
    }
    return text;
}

std::string classic_text(const Inputs& inputs, const core::Record& record,
                         const runner::Figures& figures) {
    const std::uint64_t bytes = inputs.geometry.elements() * element_bytes;
    std::string text;
    for (std::size_t i = 0; i < inputs.axes.size() && i < record.steps.size(); ++i) {
        const core::StepRecord& step = record.steps[i];
        const std::string label = Inputs::path_of(inputs.axes[i]).substr(1);
        text += labelled(label + " write", core::seconds_text(step.write_s.max) + ", " +
                                               bandwidth(bytes, step.write_s.max));
        if (step.sync_s)
            text += labelled(label + " write and sync",
                             core::seconds_text(step.write_s.max + step.sync_s->max) + ", " +
                                 bandwidth(bytes, step.write_s.max + step.sync_s->max));
    }
    return text + labelled("Create and open", core::seconds_text(figures.open_s)) +
           labelled("Close file", core::seconds_text(figures.close_s)) +
           labelled("All, to synced close", core::seconds_text(figures.durable_s) + ", " +
                                                bandwidth(figures.bytes, figures.durable_s));
}

}  // namespace tailrace::kernels::slab
