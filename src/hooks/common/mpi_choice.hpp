// SPDX-License-Identifier: Apache-2.0
// Which of Open MPI's two MPI-IO implementations the user asks for, and what only one knows.
#pragma once

#include <string.h>
#include <sys/vfs.h>

namespace tailrace::hooks {

/// A function of the MPI that is `in` something of the caller's; nullptr: it has none.
using FindMpi = void* (*)(void* in, const char* name);

struct MpiIo {
    bool chosen;  ///< somebody says which
    bool ompio;   ///< Open MPI opens files by OMPIO: it does where nobody says otherwise
};
/// What OMPI_MCA_io says (`mpiexec --mca io` sets it), or a parameter file: Open MPI itself is
/// asked where there is one that may. Once per process.  [local]
MpiIo chosen_mpi_io(FindMpi find, void* in);

/// On Lustre Open MPI takes ROMIO where nobody chooses.  [local]
inline bool may_be_romio(MpiIo chosen, const char* path) {
    constexpr long lustre = 0x0BD00BD0;
    struct statfs system {};
    return !chosen.chosen && statfs(path, &system) == 0 &&
           static_cast<long>(system.f_type) == lustre;
}

// Why a hint that was given is not said to be applied.
inline constexpr const char* hints_not_known =
    "given, and it is not known which hints are in force";
inline constexpr const char* hint_not_listed =
    "given, and this MPI-IO does not list it among the hints in force";
inline constexpr const char* hint_has_other_value =
    "given, and this MPI-IO has another value in force";
inline constexpr const char* hint_of_romio = "given, and OMPIO has no such hint";

}  // namespace tailrace::hooks
