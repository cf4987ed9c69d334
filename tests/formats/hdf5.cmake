# SPDX-License-Identifier: Apache-2.0
# Tests of format hdf5; included by CMakeLists.txt where HDF5 was found.
find_package(ZLIB REQUIRED)
foreach(name IN ITEMS write options precreate errors source encoded)
  tailrace_add_mpi_test(NAME formats.hdf5.${name} SOURCES hdf5_${name}.cpp
    LIBS tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects ZLIB::ZLIB
    RANKS 1 2 3 4 8 ROMIO)
endforeach()
