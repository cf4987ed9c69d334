# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and output folders of everything that is ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Installed programs and libraries find each other wherever the tree is copied to; the libraries of
# the superbuild are found where they were built (make bundle puts copies beside ours instead).
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/tailrace-deps/lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

option(TAILRACE_WERROR "Warnings are errors" OFF)
set(TAILRACE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=, e.g. address,undefined")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<BOOL:${TAILRACE_WERROR}>:-Werror>)
if(TAILRACE_SANITIZE)
  # No recovery: what the undefined-behaviour sanitizer only printed would pass for a success.
  add_compile_options(-fsanitize=${TAILRACE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAILRACE_SANITIZE})
endif()
include_directories(${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
