// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/objects.hpp"

#include <dlfcn.h>

namespace tailrace::hooks::mpiio::objects {
namespace {

#ifdef OPEN_MPI
/// A program that uses one itself has it moved into itself, where MPI uses it too; that is seen
/// only where one looks for what everybody sees.
void* find(const char* name) {
    const bool for_all = dlsym(RTLD_DEFAULT, "PMPI_Allreduce") == find_next("PMPI_Allreduce");
    void* found = for_all ? dlsym(RTLD_DEFAULT, name) : nullptr;
    return found != nullptr ? found : find_next(name);
}
#define TAILRACE_OBJECT(type, symbol, constant) (static_cast<type>(find(symbol)))
#else
#define TAILRACE_OBJECT(type, symbol, constant) (constant)
#endif

}  // namespace

MPI_Datatype number() { return TAILRACE_OBJECT(MPI_Datatype, "ompi_mpi_uint64_t", MPI_UINT64_T); }
MPI_Datatype byte() {
    static constinit std::atomic<MPI_Datatype> kept{MPI_Datatype{}};  // each read asks for it
    MPI_Datatype type = kept.load(std::memory_order_relaxed);
    if (type == MPI_Datatype{}) {
        type = TAILRACE_OBJECT(MPI_Datatype, "ompi_mpi_byte", MPI_BYTE);
        kept.store(type, std::memory_order_relaxed);
    }
    return type;
}
MPI_Op all_bits() { return TAILRACE_OBJECT(MPI_Op, "ompi_mpi_op_band", MPI_BAND); }
MPI_Comm no_communicator() {
    return TAILRACE_OBJECT(MPI_Comm, "ompi_mpi_comm_null", MPI_COMM_NULL);
}
MPI_File no_file() { return TAILRACE_OBJECT(MPI_File, "ompi_mpi_file_null", MPI_FILE_NULL); }
MPI_Errhandler errors_return() {
    return TAILRACE_OBJECT(MPI_Errhandler, "ompi_mpi_errors_return", MPI_ERRORS_RETURN);
}

}  // namespace tailrace::hooks::mpiio::objects
