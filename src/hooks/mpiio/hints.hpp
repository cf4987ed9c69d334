// SPDX-License-Identifier: Apache-2.0
// Hints of an MPI_Info as texts.
#pragma once

#include "hooks/mpiio/real.hpp"
#include "hooks/mpiio/recorder.hpp"

namespace tailrace::hooks::mpiio {

/// The hints of up to two infos, with the memory they lie in.
class Hints {
public:
    Hints() = default;
    ~Hints();
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;

    /// Those that the program gave; MPI_INFO_NULL has none.  [local]
    void add_given(Wide info);
    /// Those that a file has: asked from MPI, which needs no other rank.  [local]
    void add_in_force(File file);
    [[nodiscard]] const Hint* all() const { return x_all; }
    [[nodiscard]] unsigned count() const { return x_count; }

private:
    void add(Wide info, bool in_force);

    static constexpr unsigned most = 64;
    Hint x_all[most];
    unsigned x_count = 0;
};

}  // namespace tailrace::hooks::mpiio
