# SPDX-License-Identifier: Apache-2.0
# What every preloaded hook that writes a spool is made of; also for the Python package, which is
# built alone.
set(tailrace_hook_common_folder ${CMAKE_CURRENT_LIST_DIR})
set(tailrace_hook_common_sources files.cpp mpi_library.cpp session.cpp spooling.cpp ../../intent/spool/writer.cpp)
list(TRANSFORM tailrace_hook_common_sources PREPEND ${tailrace_hook_common_folder}/)

# No C++ run-time library below foreign programs; preloaded below programs without sanitizers. In
# the build they lie as they do where they are installed. SANITIZED is a second one for tests, in the
# folder "sanitized".
function(tailrace_set_up_hook target name version)
  cmake_parse_arguments(arg SANITIZED "" "" ${ARGN})
  set(plain -fno-sanitize=all)
  set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  if(NOT folder)
    set(folder ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  string(APPEND folder /tailrace/hooks)
  if(arg_SANITIZED)
    set(plain "")
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/sanitized)
  endif()
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${tailrace_hook_common_folder}/../..)
  target_compile_definitions(${target} PRIVATE TAILRACE_VERSION="${version}"
    _GLIBCXX_NO_ASSERTIONS)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fno-exceptions -fno-rtti
    -fno-threadsafe-statics -fasynchronous-unwind-tables ${plain} -U_FORTIFY_SOURCE
    -U_FILE_OFFSET_BITS)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set(names ${tailrace_hook_common_folder}/no_cxx_names.map)
  target_link_options(${target} PRIVATE ${plain} LINKER:--as-needed LINKER:-z,defs
    LINKER:--version-script=${names})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX lib SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${folder} INSTALL_RPATH "" LINK_DEPENDS ${names})
endfunction()
