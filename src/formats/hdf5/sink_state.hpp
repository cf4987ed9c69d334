// SPDX-License-Identifier: Apache-2.0
// How a collective step of HDF5 ends: the same on all ranks.
#pragma once

#include <utility>

#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

template <class Work>
void Hdf5Sink::collective_step(const char* phase, const std::string& doing, Work&& work) {
    std::optional<core::Error> mine;
    {
        const auto scope = x_phases.enter(phase);
        mine = comm::Comm::caught(std::forward<Work>(work));
    }
    agree(mine, doing);
}

}  // namespace tailrace::formats::hdf5
