# SPDX-License-Identifier: Apache-2.0
# What the hook of system calls is made of, for the house and for the Python package.
include(${CMAKE_CURRENT_LIST_DIR}/../common/sources.cmake)
set(tailrace_posix_profile_sources closes.cpp given.cpp recorder.cpp transfers.cpp wanted.cpp
  wrap_aio.cpp wrap_copies.cpp wrap_files.cpp wrap_streams.cpp ../posix/real.cpp ../posix/wrap_transfer.cpp)
list(TRANSFORM tailrace_posix_profile_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(APPEND tailrace_posix_profile_sources ${tailrace_hook_common_sources})
