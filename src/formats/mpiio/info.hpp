// SPDX-License-Identifier: Apache-2.0
// MPI_Info, and which MPI-IO it is.
#pragma once

#include <map>
#include <string>

#include "comm/mpi_comm.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::mpiio {

/// An MPI_Info that frees itself; MPI_INFO_NULL where there are no hints.
class Info {
public:
    explicit Info(const Hints& hints);  ///< [local]
    ~Info();
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    [[nodiscard]] MPI_Info get() const noexcept { return x_info; }

private:
    MPI_Info x_info = MPI_INFO_NULL;
};

/// Keys and values of an MPI_Info.  [local]
[[nodiscard]] Hints entries_of(MPI_Info info);
/// The hints in force of an open file.  [local]
[[nodiscard]] Hints hints_in_force(MPI_File file);

/// "OMPIO 4.1.4", "ROMIO (Open MPI 4.1.4)", "ROMIO (MPICH 4.0.2)": told by the hints that ROMIO
/// sets on every file.  [local]
/// @param in_force  hints in force of an open file
/// @param given     those that the user gave: they prove nothing
[[nodiscard]] std::string mpi_io_name(const Hints& in_force, const Hints& given);

}  // namespace tailrace::formats::mpiio
