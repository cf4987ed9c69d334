# SPDX-License-Identifier: Apache-2.0
# All probing for other people's software, and the one printed summary.
#
# Options: AUTO (use it if it is there), ON (an error if it is not), OFF.
#   TAILRACE_MPI  TAILRACE_HDF5  TAILRACE_NETCDF  TAILRACE_PNETCDF  TAILRACE_PYTHON  TAILRACE_BENCH
#   TAILRACE_TESTS  TAILRACE_PLUGINS
# Results: TAILRACE_HAVE_<NAME> (boolean) and these targets to link with:
#   MPI::MPI_C  HDF5::HDF5  netCDF::netcdf  PnetCDF::pnetcdf  fmt::fmt  nlohmann_json::nlohmann_json
#   CLI11::CLI11  tomlplusplus::tomlplusplus  xxHash::xxhash  doctest::doctest  benchmark::benchmark
# HDF5 and netCDF-C come from HDF5_ROOT / NETCDF_ROOT, from the system where they are new enough and
# parallel, or from the superbuild (cmake/deps/superbuild.sh; TAILRACE_DEPS_PREFIX).
include_guard(GLOBAL)
include(TailraceProbe)

tailrace_tristate(TAILRACE_MPI "MPI (everything that runs on more than one process)")
tailrace_tristate(TAILRACE_HDF5 "parallel HDF5 >= 1.14")
tailrace_tristate(TAILRACE_NETCDF "netCDF-C >= 4.9 with parallel I/O")
tailrace_tristate(TAILRACE_PNETCDF "PnetCDF >= 1.12")
tailrace_tristate(TAILRACE_PYTHON "Python extension module")
tailrace_tristate(TAILRACE_TESTS "tests")
tailrace_tristate(TAILRACE_BENCH "benchmarks")
option(TAILRACE_PLUGINS "Build and install the fill plugins (libplugins.so)" ON)

# --- where the superbuild lies ----------------------------------------------------------------
set(TAILRACE_DEPS_PREFIX "" CACHE PATH "Prefix made by cmake/deps/superbuild.sh; empty: look it up")
set(tailrace_deps_prefix "${TAILRACE_DEPS_PREFIX}")
if(NOT tailrace_deps_prefix AND NOT TAILRACE_HDF5 STREQUAL "OFF")
  tailrace_superbuild_prefix(tailrace_deps_prefix)
endif()

# --- MPI ---------------------------------------------------------------------------------------
if(NOT TAILRACE_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS C QUIET)
  if(MPI_C_FOUND)
    tailrace_mpi_flavour(TAILRACE_MPI_FLAVOUR tailrace_mpi_text)
  endif()
endif()
tailrace_settle(MPI "${MPI_C_FOUND}" "${tailrace_mpi_text}"
  "no MPI compiler wrapper (mpicc)"
  "apt-get install openmpi-bin libopenmpi-dev, or load your site's MPI module")

# --- HDF5 --------------------------------------------------------------------------------------
set(tailrace_hdf5_ok FALSE)
set(tailrace_hdf5_reason "it needs MPI")
if(TAILRACE_HAVE_MPI AND NOT TAILRACE_HDF5 STREQUAL "OFF")
  tailrace_find_hdf5(tailrace_hdf5_ok tailrace_hdf5_text tailrace_hdf5_reason)
endif()
tailrace_settle(HDF5 "${tailrace_hdf5_ok}" "${tailrace_hdf5_text}" "${tailrace_hdf5_reason}"
  "cmake/deps/superbuild.sh (make setup runs it), or -DHDF5_ROOT=<prefix of a parallel HDF5 >= 1.14>")

# --- PnetCDF, netCDF-C -------------------------------------------------------------------------
set(tailrace_pnetcdf_ok FALSE)
set(tailrace_pnetcdf_reason "it needs MPI")
if(TAILRACE_HAVE_MPI AND NOT TAILRACE_PNETCDF STREQUAL "OFF")
  tailrace_find_pnetcdf(tailrace_pnetcdf_ok tailrace_pnetcdf_text tailrace_pnetcdf_reason)
endif()
set(tailrace_remedy "-DPNETCDF_ROOT=<a prefix built with this MPI>")
if(NOT TAILRACE_MPI_FLAVOUR STREQUAL "mpich")
  string(PREPEND tailrace_remedy "apt-get install libpnetcdf-dev, or ")
endif()
tailrace_settle(PNETCDF "${tailrace_pnetcdf_ok}" "${tailrace_pnetcdf_text}"
  "${tailrace_pnetcdf_reason}" "${tailrace_remedy}")

set(tailrace_netcdf_ok FALSE)
set(tailrace_netcdf_reason "it needs parallel HDF5")
if(TAILRACE_HAVE_HDF5 AND NOT TAILRACE_NETCDF STREQUAL "OFF")
  tailrace_find_netcdf(tailrace_netcdf_ok tailrace_netcdf_text tailrace_netcdf_reason)
endif()
set(tailrace_remedy
  "cmake/deps/superbuild.sh, or -DNETCDF_ROOT=<a prefix built with this HDF5 and MPI>")
tailrace_settle(NETCDF "${tailrace_netcdf_ok}" "${tailrace_netcdf_text}"
  "${tailrace_netcdf_reason}" "${tailrace_remedy}")

# --- small libraries, always needed ------------------------------------------------------------
find_package(Threads REQUIRED)
tailrace_require(fmt fmt::fmt HEADER fmt/core.h LIBRARY fmt PACKAGE libfmt-dev)
tailrace_require(nlohmann_json nlohmann_json::nlohmann_json HEADER nlohmann/json.hpp
  PACKAGE nlohmann-json3-dev)
tailrace_require(CLI11 CLI11::CLI11 HEADER CLI/CLI.hpp PACKAGE libcli11-dev)
tailrace_require(tomlplusplus tomlplusplus::tomlplusplus HEADER toml++/toml.h LIBRARY tomlplusplus
  PACKAGE libtomlplusplus-dev)
tailrace_require(xxHash xxHash::xxhash HEADER xxhash.h LIBRARY xxhash PACKAGE libxxhash-dev)

# --- Python, tests, benchmarks -----------------------------------------------------------------
tailrace_find_python()
tailrace_judge_python(tailrace_python_ok tailrace_python_text tailrace_python_reason)
tailrace_settle(PYTHON "${tailrace_python_ok}" "${tailrace_python_text}"
  "${tailrace_python_reason}" "make setup (a private environment in build/venv)")

find_package(doctest QUIET)
tailrace_settle(TESTS "${doctest_FOUND}" "doctest ${doctest_VERSION}" "no doctest"
  "apt-get install doctest-dev")
if(NOT TAILRACE_BENCH STREQUAL "OFF")
  find_package(benchmark QUIET)
endif()
tailrace_settle(BENCH "${benchmark_FOUND}" "google/benchmark ${benchmark_VERSION}"
  "no google/benchmark" "apt-get install libbenchmark-dev")
if(TAILRACE_PLUGINS)
  tailrace_note(PLUGINS "libplugins.so")
else()
  tailrace_note(PLUGINS "off: switched off; -DTAILRACE_PLUGINS=ON builds them")
endif()

