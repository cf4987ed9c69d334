# SPDX-License-Identifier: Apache-2.0
# Tests of the raw formats (posix, posix-per-rank, mpiio) and of what all formats share; included by
# CMakeLists.txt.
set(raw_test_libs tailrace_formats nlohmann_json::nlohmann_json)
tailrace_add_unit_test(NAME formats.raw SOURCES raw_layout.cpp LIBS tailrace_formats)
tailrace_add_mpi_test(NAME formats.target SOURCES target_file.cpp
  LIBS ${raw_test_libs} RANKS 1 2 4)
tailrace_add_mpi_test(NAME formats.raw.sinks SOURCES raw_sinks.cpp
  LIBS ${raw_test_libs} RANKS 1 2 3 4 8 ROMIO)
tailrace_add_mpi_test(NAME formats.raw.failures SOURCES raw_failures.cpp
  LIBS ${raw_test_libs} tailrace_hook_posix_objects RANKS 1 2 4 ROMIO)
