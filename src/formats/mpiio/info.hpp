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

/// comm::mpi_io_implementation(): told by the components that Open MPI has loaded; pre: a file is
/// open, or was. The hints do not tell.  [local]
[[nodiscard]] std::string mpi_io_name(const Hints& in_force, const Hints& given);

}  // namespace tailrace::formats::mpiio
