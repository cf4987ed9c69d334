# SPDX-License-Identifier: Apache-2.0
# Tests of format hdf5; included by CMakeLists.txt where HDF5 was found.
set(tailrace_hdf5_test_libs tailrace_formats_hdf5 HDF5::HDF5)
tailrace_add_mpi_test(NAME formats.hdf5.write SOURCES hdf5_write.cpp
  LIBS ${tailrace_hdf5_test_libs} RANKS 1 2 3 4 8 ROMIO)
