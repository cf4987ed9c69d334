# SPDX-License-Identifier: Apache-2.0
# ccache, with a folder of its own below Tailrace's cache, so that a fresh clone compiles only what no
# clone on this machine has compiled. `make` switches it on; who has a launcher already keeps it.
# Paths below the clone are hashed relative to it, and debug information names sources the same way,
# so that two clones have equal objects. bindings/python, which pip configures by itself, asks too.
include_guard(GLOBAL)

option(TAILRACE_COMPILER_CACHE "Compile through ccache, shared by all clones" OFF)
if(NOT TAILRACE_COMPILER_CACHE OR CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
find_program(TAILRACE_CCACHE ccache)
if(NOT TAILRACE_CCACHE)
  message(STATUS "compiler cache: no ccache was found; every clone compiles everything")
  return()
endif()
set(tailrace_cache "$ENV{TAILRACE_CACHE}")
if(tailrace_cache STREQUAL "")
  set(tailrace_cache "$ENV{XDG_CACHE_HOME}/tailrace")
  if("$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(tailrace_cache "$ENV{HOME}/.cache/tailrace")
  endif()
endif()
get_filename_component(tailrace_clone ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
# The precompiled headers' macros and times are those of the standard library alone.
set(tailrace_launcher ${CMAKE_COMMAND} -E env CCACHE_DIR=${tailrace_cache}/ccache CCACHE_MAXSIZE=2G
  CCACHE_BASEDIR=${tailrace_clone} CCACHE_NOHASHDIR=1
  CCACHE_SLOPPINESS=pch_defines,time_macros ${TAILRACE_CCACHE})
set(CMAKE_C_COMPILER_LAUNCHER ${tailrace_launcher})
set(CMAKE_CXX_COMPILER_LAUNCHER ${tailrace_launcher})
add_compile_options(-ffile-prefix-map=${tailrace_clone}/=)
