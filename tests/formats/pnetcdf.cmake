# SPDX-License-Identifier: Apache-2.0
# Tests of format pnetcdf; included by CMakeLists.txt. Limits are known in every build.
tailrace_add_unit_test(NAME formats.pnetcdf.limits SOURCES pnetcdf_limits.cpp LIBS tailrace_formats)
if(TAILRACE_HAVE_PNETCDF)
  set(pnetcdf_test_libs tailrace_formats tailrace_hook_posix_objects nlohmann_json::nlohmann_json)
  tailrace_add_mpi_test(NAME formats.pnetcdf.write SOURCES pnetcdf_write.cpp
    LIBS ${pnetcdf_test_libs} RANKS 1 4 5 ROMIO)
  tailrace_add_mpi_test(NAME formats.pnetcdf.options SOURCES pnetcdf_options.cpp
    LIBS ${pnetcdf_test_libs} RANKS 1 4 ROMIO)
endif()
