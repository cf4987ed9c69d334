# SPDX-License-Identifier: Apache-2.0
# Tests of format hdf5; included by CMakeLists.txt where HDF5 was found.
find_package(ZLIB REQUIRED)
set(hdf5_test_libs tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects ZLIB::ZLIB)
foreach(name IN ITEMS write options precreate source)
  tailrace_add_mpi_test(NAME formats.hdf5.${name} SOURCES hdf5_${name}.cpp
    LIBS ${hdf5_test_libs} RANKS 1 2 3 4 8 ROMIO)
endforeach()
foreach(name IN ITEMS errors encoded)
  tailrace_add_mpi_test(NAME formats.hdf5.${name} SOURCES hdf5_${name}.cpp
    LIBS ${hdf5_test_libs} RANKS 1 2 4 8 ROMIO)
endforeach()
tailrace_add_mpi_test(NAME formats.hdf5.multi SOURCES hdf5_multi.cpp
  LIBS ${hdf5_test_libs} RANKS 1 4 ROMIO)
tailrace_add_mpi_test(NAME formats.hdf5.united SOURCES hdf5_united.cpp
  LIBS ${hdf5_test_libs} RANKS 1 2 3 4 ROMIO)
# No MPI-IO below it: ROMIO would change nothing.
tailrace_add_mpi_test(NAME formats.hdf5.encoding SOURCES hdf5_encoding.cpp
  LIBS ${hdf5_test_libs} RANKS 1 2 3 8)
# The driver of the subfiles is HDF5's own, whatever MPI-IO is below the stub.
set(subfiling_ranks 1 2 4 8)
if(TAILRACE_MPI_FLAVOUR STREQUAL "mpich")
  list(REMOVE_ITEM subfiling_ranks 1) # refused there: the driver hangs
endif()
tailrace_add_mpi_test(NAME formats.hdf5.subfiling SOURCES hdf5_subfiling.cpp
  LIBS ${hdf5_test_libs} RANKS ${subfiling_ranks} TIMEOUT 120)

# Programs that scripts run.
foreach(writer IN ITEMS hdf5_attributes_writer hdf5_boxes_writer)
  add_executable(${writer} ${writer}.cpp)
  target_link_libraries(${writer} PRIVATE tailrace_formats_hdf5)
  set_target_properties(${writer} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
endforeach()
tailrace_add_python_test(NAME formats.hdf5.boxes
  PATHS ${CMAKE_CURRENT_SOURCE_DIR}/test_hdf5_boxes.py RANKS 4 TIMEOUT 240)
tailrace_add_python_test(NAME formats.hdf5.attributes
  PATHS ${CMAKE_CURRENT_SOURCE_DIR}/test_hdf5_attributes.py RANKS 4 TIMEOUT 120)
tailrace_add_mpi_test(NAME formats.hdf5.memory SOURCES hdf5_memory.cpp
  LIBS tailrace_formats_hdf5 HDF5::HDF5 RANKS 4 ROMIO TIMEOUT 120)
tailrace_add_mpi_test(NAME formats.hdf5.large SOURCES hdf5_large.cpp
  LIBS tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects RANKS 4 ROMIO TIMEOUT 180)
tailrace_add_unit_test(NAME formats.hdf5.serial SOURCES hdf5_serial.cpp
  LIBS tailrace_formats_hdf5 HDF5::HDF5 tailrace_hook_posix_objects)
tailrace_add_python_test(NAME formats.seism_files
  PATHS ${CMAKE_CURRENT_SOURCE_DIR}/test_seism_files.py RANKS 4 TIMEOUT 240)
