// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/library/ranks.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "hooks/common/mpi_choice.hpp"

namespace tailrace::hooks::vol {
namespace {

/// Of a variable of the MPI. A program that uses it itself has it moved into itself, where MPI uses
/// it too; that is seen only where one looks for what everybody sees. Whether that is this MPI the
/// second name of a function says: the first one may be a tool's.
Mpi::Handle address(void* handle, const char* name) {
    const bool for_all = dlsym(RTLD_DEFAULT, "PMPI_Allreduce") == dlsym(handle, "PMPI_Allreduce");
    return reinterpret_cast<Mpi::Handle>(dlsym(for_all ? RTLD_DEFAULT : handle, name));
}

/// What stands for no object: where everybody sees it, and where the MPI itself has it.
Mpi::None none_of(void* handle, const char* name) {
    return {reinterpret_cast<Mpi::Handle>(dlsym(RTLD_DEFAULT, name)),
            reinterpret_cast<Mpi::Handle>(dlsym(handle, name))};
}

/// MPICH and what keeps to its binary interface (Intel's, MVAPICH, Cray's): handles are 32 bits.
bool like_mpich(void* handle) {
    int (*version)(char*, int*) = nullptr;
    if (!look_up(handle, "MPI_Get_library_version", version)) return false;
    // The same functions may come with the handles of the MPI forum's interface.
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(version), &where) == 0 || where.dli_fname == nullptr ||
        strstr(where.dli_fname, "mpi_abi") != nullptr) {
        return false;
    }
    static char text[16384];
    int length = 0;
    if (version(text, &length) != 0) return false;
    for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"}) {
        if (strncmp(text, name, strlen(name)) == 0) return true;
    }
    return false;
}

}  // namespace

bool Mpi::find(const Library& library) {
    in = library.handle;
    if (!look_up(in, "MPI_Comm_size", size) || !look_up(in, "MPI_Allreduce", reduce) ||
        !look_up(in, "MPI_Comm_rank", rank) || !look_up(in, "MPI_Send", send) ||
        !look_up(in, "MPI_Recv", receive) || !look_up(in, "MPI_Finalized", is_over) ||
        !look_up(in, "MPI_Comm_free", forget) || !look_up(in, "MPI_Info_create", make_info) ||
        !look_up(in, "MPI_Info_set", set_info) || !look_up(in, "MPI_Info_get", get_info) ||
        !look_up(in, "MPI_Info_free", forget_info) ||
        !look_up(in, "MPI_File_get_info", info_of_file)) {
        return false;
    }
    number = address(in, "ompi_mpi_uint64_t");
    smallest = address(in, "ompi_mpi_op_min");
    no_info = none_of(in, "ompi_mpi_info_null");
    no_communicator = none_of(in, "ompi_mpi_comm_null");
    open_mpi = number != 0 && smallest != 0 && no_info.of_mpi != 0 && no_communicator.of_mpi != 0;
    if (open_mpi) return true;
    if (!like_mpich(in)) return false;
    number = 0x4c000819;  // MPI_UNSIGNED_LONG_LONG
    smallest = 0x58000002;
    no_info = {0x1c000000, 0x1c000000};
    no_communicator = {0x04000000, 0x04000000};
    return true;
}

HintsAreOurs::HintsAreOurs()
    : x_leave(reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "tailrace_mpiio_leave"))) {
    if (x_leave != nullptr) x_leave(1);
}
HintsAreOurs::~HintsAreOurs() {
    if (x_leave != nullptr) x_leave(-1);
}

void Mpi::let_go(Handle& communicator, Handle& info) const {
    if (!no_communicator.is(communicator)) forget(&communicator);
    if (!no_info.is(info)) forget_info(&info);
}

bool Mpi::is_ompio() const { return open_mpi && chosen_mpi_io(dlsym, in).ompio; }

bool Mpi::is_ompio(const char* path) const {
    return is_ompio() && !may_be_romio(chosen_mpi_io(dlsym, in), path);
}

bool Ranks::open(const Library& library, Id access) {
    if (library.H5Pget_fapl_mpio == nullptr || !x_mpi.find(library)) return false;
    x_obstacle = "the access list names no communicator";
    if (library.H5Pget_fapl_mpio(access, &x_communicator, &x_info) < 0) return false;
    x_process = getpid();
    // As HDF5_DRIVER=mpio leaves it: HDF5 itself then takes that of all ranks.
    if (x_mpi.no_communicator.is(x_communicator)) return false;
    return x_mpi.size(x_communicator, &x_count) == 0 && x_count > 0;
}

Ranks::~Ranks() { let_go(); }

bool Ranks::are_there() const {
    int over = 0;
    return x_communicator != 0 && x_process == getpid() && x_mpi.is_over(&over) == 0 && over == 0;
}

void Ranks::let_go() {
    if (!are_there()) return;
    x_mpi.let_go(x_communicator, x_info);
    x_communicator = x_info = 0;
}

void Ranks::hand_over(Ranks& to) {
    to.x_mpi = x_mpi;
    to.x_communicator = x_communicator;
    to.x_info = x_info;
    to.x_count = x_count;
    to.x_process = x_process;
    x_communicator = x_info = 0;
}

bool Ranks::agree(Vote& vote) const {
    // The smallest of a number and of its complement: equal on all ranks, or not.
    const uint64_t* free = vote.free_hints;
    const uint64_t own[] = {vote.plan[0], ~vote.plan[0], vote.plan[1],     ~vote.plan[1],
                            vote.match,   ~vote.match,   free[0],          ~free[0],
                            free[1],      ~free[1],      vote.block_bytes, vote.room};
    constexpr int count = sizeof own / sizeof own[0];
    uint64_t least[count] = {};
    if (!smallest(own, least, count)) return false;
    vote.block_bytes = least[count - 2];
    vote.room = least[count - 1];
    const auto same = [&least](int from, int to) {
        bool all = true;
        for (int at = from; at < to; at += 2) all = all && least[at] == ~least[at + 1];
        return all;
    };
    if (!same(6, 10)) vote.free_hints[0] = vote.free_hints[1] = 0;
    return same(0, 6);
}

bool Ranks::all(bool here) const {
    const uint64_t own = here ? 1 : 0;
    uint64_t least = 0;
    return smallest(&own, &least, 1) && least == 1;
}

bool Ranks::smallest(const uint64_t* own, uint64_t* least, int count) const {
    return x_mpi.reduce(own, least, count, x_mpi.number, x_mpi.smallest, x_communicator) == 0;
}

int Ranks::here() const {
    int rank = -1;
    return x_mpi.rank(x_communicator, &rank) == 0 ? rank : -1;
}

bool Ranks::send(const uint64_t* numbers, int count, int to) const {
    return x_mpi.send(numbers, count, x_mpi.number, to, 0, x_communicator) == 0;
}

bool Ranks::receive(uint64_t* numbers, int count, int from) const {
    // As large as that of any MPI: what stands for none differs between them.
    alignas(16) unsigned char status[256];
    return x_mpi.receive(numbers, count, x_mpi.number, from, 0, x_communicator, status) == 0;
}

}  // namespace tailrace::hooks::vol
