// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_end.hpp"

#include <utility>

#include "comm/mpi_comm.hpp"

namespace tailrace::comm {

namespace {

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all.
int called(MPI_Comm, int, void* what, void*) {
    auto& end = *static_cast<std::function<void()>*>(what);
    try {
        if (end) std::exchange(end, nullptr)();
    } catch (...) {  // MPI ends all the same
    }
    return MPI_SUCCESS;
}

bool works() {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return begun != 0 && over == 0;
}

}  // namespace

AtMpiEnd::AtMpiEnd(std::function<void()> what) : x_what(std::move(what)) {
    if (!works()) return;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, called, &x_key, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, x_key, &x_what), "MPI_Comm_set_attr");
}

AtMpiEnd::~AtMpiEnd() {
    x_what = nullptr;
    if (x_key < 0 || !works()) return;
    MPI_Comm_delete_attr(MPI_COMM_SELF, x_key);
    MPI_Comm_free_keyval(&x_key);
}

}  // namespace tailrace::comm
