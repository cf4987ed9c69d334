// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/abi.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bit>

#include "hooks/common/mpi_library.hpp"
#include "hooks/common/session.hpp"
#include "hooks/common/spooling.hpp"
#include "hooks/mpiio/real.hpp"

namespace tailrace::hooks::mpiio {
namespace {

/// The standard binary interface of MPI 5 has neither of the two symbols.
Mpi look() {
    if (find_next("ompi_mpi_comm_null") != nullptr) return Mpi::open_mpi;
    const bool first_half_is_low = std::endian::native == std::endian::little;
    return first_half_is_low && find_next("MPIR_Dup_fn") != nullptr ? Mpi::mpich : Mpi::not_known;
}

/// The library is named too: that of the standard interface says "MPICH" or "Open MPI" of itself.
void say_not_understood() {
    MpiVersion version;
    const char* text = version.ask() ? version.text : "one without a name";
    Dl_info where{};
    const char* path = nullptr;
    if (dladdr(find_next("PMPI_Get_library_version"), &where) != 0) path = where.dli_fname;
    const char* slash = path == nullptr ? nullptr : strrchr(path, '/');
    const char* library = slash == nullptr ? "an unknown library" : slash + 1;
    const char* rank = getenv("PMI_RANK");  // NOLINT(concurrency-mt-unsafe): only read
    const char* which =
        strstr(library, "mpi_abi") != nullptr
            ? "MPI's standard interface, which the hook does not know: link the program with "
              "the MPI's own libmpi"
            : "which the hook does not know: it knows Open MPI up to 5, MPICH and its relatives";
    char line[384];
    const int bytes =
        snprintf(line, sizeof line, "tailrace: %s: the program's MPI is %.60s in %.60s, %s\n",
                 session::on() ? "MPI-IO is not recorded" : "no hints are set by MPI-IO", text,
                 library, which);
    if ((rank == nullptr || strcmp(rank, "0") == 0) && bytes > 0)
        spooling::to_standard_error(line, strnlen(line, sizeof line));
}

/// A program that uses an object of Open MPI itself has it moved into itself, where MPI uses it
/// too; that is seen only where one looks for what everybody sees.
Wide find(const objects::Object& object) {
    if (which_mpi() != Mpi::open_mpi) return object.number;
    const bool for_all = dlsym(RTLD_DEFAULT, "PMPI_Allreduce") == find_next("PMPI_Allreduce");
    void* found = for_all ? dlsym(RTLD_DEFAULT, object.symbol) : nullptr;
    return reinterpret_cast<Wide>(found != nullptr ? found : find_next(object.symbol));
}

}  // namespace

Mpi which_mpi() {
    static std::atomic<Mpi> known{Mpi::not_asked};  // of several threads all find the same
    Mpi mpi = known.load(std::memory_order_relaxed);
    if (mpi == Mpi::not_asked) {
        mpi = look();
        known.store(mpi, std::memory_order_relaxed);
    }
    return mpi;
}

bool understood() {
    static std::atomic<bool> said{false};
    const bool good = which_mpi() != Mpi::not_known;
    if (!good && !said.exchange(true)) say_not_understood();
    return good;
}

bool is_null(Wide info) {
    if (which_mpi() != Mpi::open_mpi)
        return static_cast<uint32_t>(info) == objects::null_info.number;
    // A program may hold a copy of the object, which then is the one that all use.
    static std::atomic<Wide> of_program{0};
    static std::atomic<Wide> of_library{0};
    if (of_library.load() == 0) {
        of_program.store(reinterpret_cast<Wide>(dlsym(RTLD_DEFAULT, objects::null_info.symbol)));
        of_library.store(reinterpret_cast<Wide>(find_next(objects::null_info.symbol)));
    }
    return info == 0 || info == of_program.load() || info == of_library.load() ||
           of_library.load() == 0;
}

namespace objects {

Wide number() { return find(number_type); }
Wide byte() {
    static std::atomic<Wide> kept{0};  // each read asks for it
    Wide type = kept.load(std::memory_order_relaxed);
    if (type == 0) {
        type = find(byte_type);
        kept.store(type, std::memory_order_relaxed);
    }
    return type;
}
Wide all_bits() { return find(and_of_bits); }
bool is_no_communicator(Wide communicator) {
    const Wide none = find(null_communicator);
    return which_mpi() == Mpi::open_mpi
               ? communicator == none
               : static_cast<uint32_t>(communicator) == static_cast<uint32_t>(none);
}
File no_file() { return reinterpret_cast<File>(find(null_file)); }
Wide errors_return() { return find(handler_returns); }

}  // namespace objects
}  // namespace tailrace::hooks::mpiio
