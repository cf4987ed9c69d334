// SPDX-License-Identifier: Apache-2.0
// One repetition of the write: the times of this rank, and of all ranks.
#pragma once

#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "core/sink.hpp"
#include "kernels/seism/fill.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

/// Seconds of one step on this rank.
struct StepSeconds {
    double write = 0;  ///< in phase "write", agreement apart
    double sync = 0;
    double compute = 0;
};

/// What one write of the whole file took and left, on this rank.
struct Written {
    std::vector<StepSeconds> steps;
    double open_s = 0;     ///< until the datasets are defined, the reservation included
    double close_s = 0;    ///< close without its sync
    double durable_s = 0;  ///< from the last rank in to the last rank out, fill and compute apart
    core::FileReport report;
};

/// The data of this rank, and which step they are of.
struct Buffer {
    std::vector<float> values;
    bool filled = false;
    std::uint64_t step = 0;
};

/// Makes the data of `step` unless they are there. Phase "fill".  [local]
void fill_buffer(const Fill& fill, const Geometry& geometry, int rank, std::uint64_t step,
                 core::Phases& phases, Buffer& buffer);

/// Writes the file under its name, or leaves nothing.  [collective]
/// @throws core::Error on all ranks
[[nodiscard]] Written write_file(const comm::Comm& comm, const Inputs& inputs, const Fill& fill,
                                 core::Phases& phases, Buffer& buffer);

}  // namespace tailrace::kernels::seism
