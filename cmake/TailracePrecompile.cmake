# SPDX-License-Identifier: Apache-2.0
# Headers of the standard library, precompiled: parsing them is up to half of compiling a file of
# ours. With a compiler launcher of the user's it is off, since only TailraceCompilerCache.cmake tells
# ccache that such a header is to be hashed by its text. clang-tidy (cmake/setup/tidy.py) parses every
# file without it: an include that a file forgets is found. Public headers are compiled alone
# (tests/install), never with this.
include_guard(GLOBAL)

set(tailrace_precompile_default ON)
if((CMAKE_CXX_COMPILER_LAUNCHER AND NOT TAILRACE_CCACHE)
    OR NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set(tailrace_precompile_default OFF)
endif()
option(TAILRACE_PRECOMPILE "Precompile the headers of the standard library"
  ${tailrace_precompile_default})

set(tailrace_standard_headers <algorithm> <array> <cstddef> <cstdint> <filesystem> <functional> <map>
  <memory> <optional> <span> <string> <string_view> <utility> <variant> <vector>)

# All targets that were declared below a folder.
function(tailrace_targets_below folder out)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    tailrace_targets_below(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

#   tailrace_precompile(NAME x TYPE STATIC_LIBRARY|EXECUTABLE FOLDERS ... [HEADERS ...]
#     [OPTIONS ...] [WITH regex])
# For the targets of a type below the folders; WITH: those of whose sources one matches; OPTIONS: with
# which they are compiled. NAME: of the
# target that makes it. What is compiled for a library does not fit a program: position independent
# code comes in two kinds.
function(tailrace_precompile)
  cmake_parse_arguments(arg "" "NAME;TYPE;WITH" "FOLDERS;HEADERS;OPTIONS" ${ARGN})
  if(NOT TAILRACE_PRECOMPILE)
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled/${arg_NAME}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "\n")
  add_library(${arg_NAME} OBJECT EXCLUDE_FROM_ALL ${source})
  if(arg_TYPE STREQUAL "EXECUTABLE")
    set_target_properties(${arg_NAME} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${arg_NAME} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
  target_compile_options(${arg_NAME} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${arg_NAME} PRIVATE ${tailrace_standard_headers} ${arg_HEADERS})
  foreach(folder IN LISTS arg_FOLDERS)
    tailrace_targets_below(${PROJECT_SOURCE_DIR}/${folder} targets)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(sources ${target} SOURCES)
      if(type STREQUAL arg_TYPE AND sources MATCHES "\\.cpp" AND sources MATCHES "${arg_WITH}")
        target_precompile_headers(${target} REUSE_FROM ${arg_NAME})
      endif()
    endforeach()
  endforeach()
endfunction()
