// SPDX-License-Identifier: Apache-2.0
// MPI_Info, and which MPI-IO it is.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "comm/mpi_comm.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::mpiio {

/// MPI is initialised, and not yet finalised.  [local]
[[nodiscard]] bool mpi_running();

/// An MPI_Info that frees itself; MPI_INFO_NULL where there are no hints.
class Info {
public:
    /// @throws core::Error{Code::bad_input} for what this MPI does not take  [local]
    explicit Info(const Hints& hints);
    ~Info();
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    [[nodiscard]] MPI_Info get() const noexcept { return x_info; }

private:
    MPI_Info x_info = MPI_INFO_NULL;
};

/// The hints for writing. ROMIO's data sieving reads, changes and writes back what lies between the
/// pieces of a rank, under a lock that contiguous writes of other ranks do not take: their data
/// would be lost. So it is off unless the user asks for it.  [local]
[[nodiscard]] Hints with_safe_defaults(Hints hints);

/// Keys and values of an MPI_Info that an open file told, without those that its MPI-IO does not
/// read: OMPIO tells whatever it was given.  [local]
[[nodiscard]] Hints in_force_of(MPI_Info info);
/// The hints in force of an open file.  [local]
[[nodiscard]] Hints hints_in_force(MPI_File file);

/// comm::mpi_io_implementation(): told by the components that Open MPI has loaded; pre: a file is
/// open, or was. The hints do not tell.  [local]
[[nodiscard]] std::string mpi_io_name(const Hints& in_force, const Hints& given);

/// The name for MPI_File_open: a bare one gets "./", because OMPIO fails to open a file whose whole
/// name is one letter.  [local]
[[nodiscard]] std::string name_for_open(const std::filesystem::path& path);
/// The path with the prefix of its file system ("ufs:", "nfs:", "lustre:"). ROMIO takes what stands
/// before the first colon of a path for such a prefix, so a path with a colon in it needs one of
/// its own.  [local]
[[nodiscard]] std::string with_file_system_prefix(const std::filesystem::path& path);

}  // namespace tailrace::formats::mpiio
