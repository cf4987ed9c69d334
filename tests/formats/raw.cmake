# SPDX-License-Identifier: Apache-2.0
# Tests of the raw formats (posix, posix-per-rank, mpiio) and of what all formats share; included by
# CMakeLists.txt.
set(raw_test_libs tailrace_formats nlohmann_json::nlohmann_json)
tailrace_add_unit_test(NAME formats.raw SOURCES raw_layout.cpp LIBS tailrace_formats)
tailrace_add_unit_test(NAME formats.own SOURCES own_format.cpp LIBS tailrace_kernels_slab)
if(TAILRACE_HAVE_MPI)
  tailrace_add_unit_test(NAME formats.mpiio SOURCES mpiio_portions.cpp
    LIBS tailrace_formats_mpiio)
endif()
tailrace_add_mpi_test(NAME formats.target SOURCES target_file.cpp
  LIBS ${raw_test_libs} RANKS 1 2 4)
tailrace_add_mpi_test(NAME formats.space_in_memory SOURCES space_in_memory.cpp
  LIBS ${raw_test_libs} RANKS 1 2 4)
tailrace_add_mpi_test(NAME formats.names SOURCES derived_names.cpp
  LIBS ${raw_test_libs} RANKS 1 2)
tailrace_add_mpi_test(NAME formats.dry_run SOURCES dry_run.cpp
  LIBS ${raw_test_libs} RANKS 1 2)
tailrace_add_mpi_test(NAME formats.in_place SOURCES in_place.cpp
  LIBS ${raw_test_libs} tailrace_hook_posix_objects RANKS 1 2)
tailrace_add_mpi_test(NAME formats.raw.sets SOURCES per_rank_sets.cpp
  LIBS ${raw_test_libs} tailrace_hook_posix_objects RANKS 1 2 4)
tailrace_add_mpi_test(NAME formats.folder SOURCES folder.cpp
  LIBS ${raw_test_libs} tailrace_hook_posix_objects RANKS 1 2 4)
tailrace_add_mpi_test(NAME formats.raw.damaged SOURCES raw_damaged.cpp
  LIBS ${raw_test_libs} RANKS 1)
tailrace_add_mpi_test(NAME formats.raw.sinks SOURCES raw_sinks.cpp
  LIBS ${raw_test_libs} RANKS 1 2 3 4 8 ROMIO)
tailrace_add_mpi_test(NAME formats.raw.failures SOURCES raw_failures.cpp
  LIBS ${raw_test_libs} tailrace_hook_posix_objects RANKS 1 2 4 ROMIO)

if(TAILRACE_HAVE_MPI)
  tailrace_add_mpi_test(NAME formats.collective_reads SOURCES collective_reads.cpp
    LIBS ${raw_test_libs} RANKS 1 2 4 ROMIO)
  foreach(library IN ITEMS HDF5 NETCDF PNETCDF)
    if(TAILRACE_HAVE_${library})
      target_compile_definitions(test_formats_collective_reads PRIVATE TAILRACE_HAVE_${library})
    endif()
  endforeach()
endif()

# A disk that fills up: with and without the interposer, on OMPIO and ROMIO.
if(TAILRACE_HAVE_MPI)
  add_executable(test_formats_small_disk small_disk.cpp ${tailrace_support}/mpi_main.cpp)
  target_link_libraries(test_formats_small_disk PRIVATE tailrace_test_support ${raw_test_libs}
    tailrace_hook_posix_objects MPI::MPI_C)
  if(TAILRACE_HAVE_PNETCDF)
    target_compile_definitions(test_formats_small_disk PRIVATE TAILRACE_HAVE_PNETCDF)
  endif()
  set_target_properties(test_formats_small_disk PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  foreach(observe IN ITEMS 0 1)
    foreach(io IN ITEMS default ${TAILRACE_ROMIO_COMPONENT})
      set(environment "")
      if(NOT io STREQUAL "default")
        set(environment ENV OMPI_MCA_io=${io})
      endif()
      tailrace_add_script_test(NAME formats.raw.small_disk.observe${observe}.${io} RANKS 4
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/small_disk.sh 4 ${observe}
          $<TARGET_FILE:test_formats_small_disk>
        TIMEOUT 90 ${environment})
    endforeach()
  endforeach()
endif()
