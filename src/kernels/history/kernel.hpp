// SPDX-License-Identifier: Apache-2.0
// The history kernel as the run sees it: each record is a step, and files follow one another.
#pragma once

#include <functional>
#include <memory>

#include "kernels/history/inputs.hpp"
#include "kernels/history/meter.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::history {

/// Who writes the files.
struct Writing {
    /// Of a collection, counted from 0; empty: each rank, by the format of the inputs.
    std::function<std::unique_ptr<runner::Opener>(std::size_t collection)> opener{};
    /// What it knows of the last repetition; files stand there collection by collection, file by
    /// file.  [collective]
    std::function<void(const comm::Comm&, core::ServingRecord&)> tell{};
    Watched watched{};
};

[[nodiscard]] std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs,
                                                          Writing writing = {});  ///< [local]

}  // namespace tailrace::kernels::history
