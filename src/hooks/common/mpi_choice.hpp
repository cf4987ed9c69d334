// SPDX-License-Identifier: Apache-2.0
// Which of Open MPI's two MPI-IO implementations the environment asks for, and what only one knows.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

namespace tailrace::hooks {

/// Whether Open MPI opens files by OMPIO: it does where nobody says otherwise. OMPI_MCA_io is a
/// list of components, or, with "^" before it, of those that are not to be taken.  [local]
inline bool chooses_ompio() {
    const char* listed = getenv("OMPI_MCA_io");  // NOLINT(concurrency-mt-unsafe): only read
    if (listed == nullptr || *listed == '\0') return true;
    return (strstr(listed, "ompio") != nullptr) != (*listed == '^');
}

/// On Lustre Open MPI takes ROMIO where nobody chooses.  [local]
inline bool may_be_romio(const char* path) {
    constexpr long lustre = 0x0BD00BD0;
    struct statfs system {};
    return getenv("OMPI_MCA_io") == nullptr &&  // NOLINT(concurrency-mt-unsafe): only read
           statfs(path, &system) == 0 && static_cast<long>(system.f_type) == lustre;
}

/// Hints that only ROMIO knows: OMPIO tells them as it was given them, and does nothing with them.
/// [local]
inline bool is_of_romio(const char* key) {
    return strncmp(key, "romio_", 6) == 0 || strncmp(key, "ind_", 4) == 0;
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
