// SPDX-License-Identifier: Apache-2.0
// How an open HDF5 file is left behind without a hang.
#pragma once

#include <string>

#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Gives HDF5 a memory file of this process in the place of the MPI file of `file`.  [local]
///
/// HDF5 closes every open file in MPI_Finalize, collectively; where writes fail on some ranks only,
/// those leave the collective calls early and the others wait for ever. With a file that takes
/// every write all ranks go through. What the real file holds is lost anyway. The MPI file itself
/// is neither closed nor used again. Does nothing where the driver is not MPI-IO.
void redirect_to_memory(const h5::Id& file) noexcept;
/// The same for the driver of one process, whose file can then be closed: after a write that
/// failed, H5Fclose tries it again for ever and ends with "infinite loop closing library". Of other
/// drivers it must not be called.  [local]
/// @returns a descriptor of the real file, for give_up() (formats/hdf5/beneath.hpp); -1: none
[[nodiscard]] int redirect_plain_to_memory(const h5::Id& file) noexcept;
/// Writes what is left, and closes a second descriptor of the file, so that a system that refuses
/// the close (NFS: the data of before) is heard while the file can still be given up: HDF5 and
/// netCDF crash after an H5Fclose that failed. For the driver of one process.  [local]
/// @throws core::Error
void try_to_close(const h5::Id& file, const std::string& name);

}  // namespace tailrace::formats::hdf5
