# SPDX-License-Identifier: Apache-2.0
# What the hook of MPI-IO is made of, for the house and for the Python package, which is also built
# alone. It wants no MPI.
include(${CMAKE_CURRENT_LIST_DIR}/../common/sources.cmake)
set(tailrace_mpiio_sources abi.cpp hints.cpp plan.cpp real.cpp recorder.cpp tune_open.cpp
  wrap_files.cpp wrap_transfer.cpp ../common/mpi_choice.cpp ../common/outcomes.cpp
  ../common/plan_file.cpp ../../intent/plan/decode.cpp ../../intent/plan/functions.cpp
  ../../intent/plan/keys.cpp ../../intent/plan/lookup.cpp)
list(TRANSFORM tailrace_mpiio_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(APPEND tailrace_mpiio_sources ${tailrace_hook_common_sources})
