// SPDX-License-Identifier: Apache-2.0
// Collective settings are for the run that they were proven in. The launcher compares program,
// arguments and inputs; which HDF5 and MPI a program has is seen only here.
#pragma once

#include "hooks/vol/library/library.hpp"

namespace tailrace::hooks::vol {

inline constexpr const char* not_proven = "this HDF5 or MPI is not that of the proven run";

/// Whether the HDF5 library, and the MPI of the program, are those that TAILRACE_PROVEN names
/// ("2.2.0;Open MPI v4.1.4"); true where the variable is not set.  [local]
bool versions_are_proven(const Library& library);

}  // namespace tailrace::hooks::vol
