// SPDX-License-Identifier: Apache-2.0
// Which of Open MPI's two MPI-IO implementations the environment asks for.
#pragma once

#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks {

/// Whether Open MPI opens files by OMPIO: it does where nobody says otherwise. OMPI_MCA_io is a
/// list of components, or, with "^" before it, of those that are not to be taken.  [local]
inline bool chooses_ompio() {
    const char* listed = getenv("OMPI_MCA_io");  // NOLINT(concurrency-mt-unsafe): only read
    if (listed == nullptr || *listed == '\0') return true;
    return (strstr(listed, "ompio") != nullptr) != (*listed == '^');
}

}  // namespace tailrace::hooks
