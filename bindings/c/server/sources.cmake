# SPDX-License-Identifier: Apache-2.0
# libtailrace_server: the C door of the I/O server (tailrace/server.h).
add_library(tailrace_serving SHARED
  ${CMAKE_CURRENT_LIST_DIR}/metadata.cpp ${CMAKE_CURRENT_LIST_DIR}/server.cpp)
set_target_properties(tailrace_serving PROPERTIES OUTPUT_NAME tailrace_server
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(tailrace_serving PRIVATE ${CMAKE_CURRENT_LIST_DIR}
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(tailrace_serving PRIVATE tailrace_server INTERFACE MPI::MPI_C)
target_link_options(tailrace_serving PRIVATE LINKER:-z,defs LINKER:--exclude-libs,ALL)
# Programs include mpi.h: in C++ without the bindings of old, which would want a library more.
target_compile_definitions(tailrace_serving INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
