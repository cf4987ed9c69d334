// SPDX-License-Identifier: Apache-2.0
// A last word before MPI ends; free of mpi.h.
#pragma once

#include <functional>

namespace tailrace::comm {

/// Calls `what` when the program calls MPI_Finalize before this ends, while MPI still works. Where
/// there is no MPI: nothing.
class AtMpiEnd {
public:
    explicit AtMpiEnd(std::function<void()> what);  ///< [local]
    ~AtMpiEnd();
    AtMpiEnd(const AtMpiEnd&) = delete;
    AtMpiEnd& operator=(const AtMpiEnd&) = delete;

private:
    std::function<void()> x_what;
    int x_key = -1;
};

}  // namespace tailrace::comm
