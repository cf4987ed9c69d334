# SPDX-License-Identifier: Apache-2.0
# env.sh of the build tree, and the Python package and the `tailrace` command in it: what was built
# can be used without installing it.
include_guard(GLOBAL)

# build/<preset>/python/tailrace: links to the sources, and _core beside them.
function(tailrace_link_python_package)
  set(package ${PROJECT_BINARY_DIR}/python/tailrace)
  set(extension "")
  if(TARGET tailrace_python_core)
    set(extension -D extension=$<TARGET_FILE:tailrace_python_core>)
  endif()
  if(TARGET tailrace_vol)
    list(APPEND extension -D plugin=$<TARGET_FILE_DIR:tailrace_vol>)
  endif()
  add_custom_target(tailrace_python_package ALL VERBATIM
    COMMAND ${CMAKE_COMMAND} -D source=${PROJECT_SOURCE_DIR}/python/tailrace -D package=${package}
      ${extension} -P ${PROJECT_SOURCE_DIR}/cmake/TailraceLinkPython.cmake)
  if(TARGET tailrace_python_core)
    add_dependencies(tailrace_python_package tailrace_python_core)
  endif()
  foreach(hook IN ITEMS tailrace_vol tailrace_hook_mpiio tailrace_hook_posix_profile)
    if(TARGET ${hook})
      add_dependencies(tailrace_python_package ${hook})
    endif()
  endforeach()
  set(TAILRACE_COMMAND_PYTHON ${TAILRACE_PYTHON_EXECUTABLE})
  set(TAILRACE_COMMAND_PACKAGES python)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tailrace_command.in ${PROJECT_BINARY_DIR}/bin/tailrace
    @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(tailrace_write_env)
  set(TAILRACE_ENV_HOME ${PROJECT_BINARY_DIR})
  set(TAILRACE_ENV_LIBDIR lib)
  set(TAILRACE_ENV_PYTHON ${PROJECT_BINARY_DIR}/python)
  get_filename_component(bin "${TAILRACE_PYTHON_EXECUTABLE}" DIRECTORY)
  set(TAILRACE_ENV_PYTHON_BIN "${bin}")
  set(TAILRACE_ENV_MPIEXEC "")
  set(TAILRACE_ENV_ROOT "")
  if(TAILRACE_HAVE_MPI)
    set(TAILRACE_ENV_MPIEXEC ${MPIEXEC_EXECUTABLE})
    if(TAILRACE_MPI_FLAVOUR STREQUAL "openmpi")
      # More ranks than cores, and root in a container: what a first try meets.
      string(APPEND TAILRACE_ENV_MPIEXEC " --oversubscribe")
      set(TAILRACE_ENV_ROOT
        "[ \"$(id -u)\" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
    endif()
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/env.sh.in ${PROJECT_BINARY_DIR}/env.sh @ONLY)
endfunction()

tailrace_link_python_package()
tailrace_write_env()

# What a person runs. The tests' programs take most of a build, and a first try needs none of them.
add_custom_target(tailrace_programs)
foreach(target IN ITEMS tailrace-seism tailrace-slab tailrace-particle tailrace-amr tailrace-history
    tailrace-limit plugins
    tailrace_hook_posix tailrace_hook_mpiio
    tailrace_hook_posix_profile tailrace_python_package)
  if(TARGET ${target})
    add_dependencies(tailrace_programs ${target})
  endif()
endforeach()
