# SPDX-License-Identifier: Apache-2.0
# Tests of format netcdf4; included by CMakeLists.txt where netCDF-C was found. The files are read
# by plain HDF5.
foreach(name IN ITEMS write options)
  tailrace_add_mpi_test(NAME formats.netcdf4.${name} SOURCES netcdf4_${name}.cpp
    LIBS tailrace_formats_netcdf4 tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects
    RANKS 1 4 8 ROMIO)
endforeach()
tailrace_add_mpi_test(NAME formats.storage SOURCES storage.cpp
  LIBS tailrace_formats_netcdf4 tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects
  RANKS 1 4 ROMIO)
tailrace_add_mpi_test(NAME formats.netcdf4.large SOURCES netcdf4_large.cpp
  LIBS tailrace_formats_netcdf4 tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects
  RANKS 1 4)
tailrace_add_python_test(NAME formats.netcdf4.files
  PATHS ${CMAKE_CURRENT_SOURCE_DIR}/test_netcdf4_files.py RANKS 4 TIMEOUT 240)
if(TAILRACE_HAVE_PNETCDF)
  add_executable(history_writer history_writer.cpp)
  target_link_libraries(history_writer PRIVATE tailrace_formats)
  set_target_properties(history_writer PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  tailrace_add_python_test(NAME formats.history_files
    PATHS ${CMAKE_CURRENT_SOURCE_DIR}/test_history_files.py RANKS 4 TIMEOUT 240)
endif()
