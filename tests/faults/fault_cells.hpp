// SPDX-License-Identifier: Apache-2.0
// A cell of the fault matrix of the formats over HDF5: a run with one kind of failure at one point.
#pragma once

#include <filesystem>
#include <string>

#include "fault_run.hpp"
#include "writer_cells.hpp"

namespace fault_test {

/// System calls are counted, and faults are possible.
inline const bool counted = [] {
    hooks::posix::install();
    return true;
}();

inline Writer writer_of(const Run& run) {
    return {"f.h5", [run](const comm::Comm& comm, const std::string& path) {
                return write_file(comm, path, run);
            }};
}
inline std::string outcome(const comm::Comm& comm, const std::string& path, const Run& run,
                           const std::string& rules) {
    return outcome(comm, path, writer_of(run), rules);
}
inline void check_cell(const comm::Comm& comm, const std::string& cell, const Run& run,
                       const std::string& rules) {
    check_cell(comm, cell, writer_of(run), rules);
}
inline void check_writes(const comm::Comm& comm, const std::string& point, const std::string& phase,
                         const Run& run) {
    check_writes(comm, point, phase, writer_of(run));
}

}  // namespace fault_test
