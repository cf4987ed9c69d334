# SPDX-License-Identifier: Apache-2.0
# How tests are declared. Every CTest states its ranks and PROCESSORS, has a timeout, its own temporary
# folder and the whole environment it needs (tests/support/run_case.sh.in), and fails when HDF5 prints
# an error stack.
#
#   tailrace_add_unit_test(NAME core.box SOURCES a.cpp LIBS tailrace_core [TIMEOUT s] [LABELS ...])
#       one program; one CTest per doctest case: tailrace.<room>.<suite>.<case>.np1
#   tailrace_add_mpi_test(NAME formats.hdf5 SOURCES a.cpp LIBS ... RANKS 1 2 4 [ROMIO] [TIMEOUT s]
#                         [LABELS ...] [ENV A=b ...])
#       one program with tests/support/mpi_main.cpp; one CTest per case and number of ranks; a case
#       declared TAILRACE_MPI_TEST(4, "...") runs on 4 ranks only; ROMIO adds the same under ROMIO
#   tailrace_add_script_test(NAME cli.x COMMAND ... [RANKS n] [PROCESSORS n] [TIMEOUT s] [LABELS ...]
#                            [ENV A=b ...])
#       one CTest that runs a command, which starts its ranks itself: RANKS reserves half as many
#       processors, since ranks wait for each other and for the disk, or PROCESSORS if that is not
#       right; a test with fewer processors than ranks has the label "waits"
#   tailrace_add_python_test(NAME python.cli PATHS file_or_folder... [RANKS n] [TIMEOUT s] [...])
#       the same for pytest in the private environment
#
# TIMEOUT is for one CTest, in seconds (default 60; pytest 120). In a doctest program the watchdog
# prints all stacks then, and CTest steps in half a minute later. Room and ranks (np4) are labels.
# What a test needs and this machine refuses (name spaces, say) is listed at the end of `make test`;
# where CI=true it is a failure. How a test says so: tests/support/run_case.sh.in.
include_guard(GLOBAL)

set(tailrace_support ${PROJECT_SOURCE_DIR}/tests/support)
set(tailrace_run_case ${PROJECT_BINARY_DIR}/tests/run_case)

set(tailrace_mpiexec_text "")
if(TAILRACE_HAVE_MPI)
  set(tailrace_mpiexec_text ${MPIEXEC_EXECUTABLE})
  if(TAILRACE_MPI_FLAVOUR STREQUAL "openmpi")
    string(APPEND tailrace_mpiexec_text " --oversubscribe")
  endif()
endif()
get_filename_component(tailrace_venv_bin "${TAILRACE_PYTHON_EXECUTABLE}" DIRECTORY)
set(tailrace_test_pythonpath ${PROJECT_BINARY_DIR}/python:${tailrace_support}/python)
configure_file(${tailrace_support}/run_case.sh.in ${tailrace_run_case} @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

function(tailrace_room name out)
  string(REGEX MATCH "^[^.]+" room "${name}")
  set(${out} ${room} PARENT_SCOPE)
endfunction()

macro(tailrace_default name value)
  if(NOT ${name})
    set(${name} ${value})
  endif()
endmacro()

# A doctest program and the discovery of its cases after each link.
function(tailrace_doctest_program name runs)
  cmake_parse_arguments(arg "" "TIMEOUT;MAIN" "SOURCES;LIBS;LABELS;RANKS;ENV" ${ARGN})
  string(REPLACE "." "_" target test_${name})
  add_executable(${target} ${arg_SOURCES} $<TARGET_OBJECTS:${arg_MAIN}>)
  target_link_libraries(${target} PRIVATE tailrace_test_support ${arg_LIBS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  tailrace_room(${name} room)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  # "|" between values: a list inside a list of arguments would fall apart.
  string(REPLACE ";" "|" labels "${room};${arg_LABELS}")
  string(REPLACE ";" "|" ranks "${arg_RANKS}")
  string(REPLACE ";" "|" environment "${arg_ENV}")
  string(REPLACE ";" "|" kinds "${runs}")
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:${target}> -D name=${name}
      -D run_case=${tailrace_run_case} -D kinds=${kinds} -D ranks=${ranks}
      -D timeout=${arg_TIMEOUT} -D "labels=${labels}" -D "environment=${environment}"
      -D output=${list} -P ${PROJECT_SOURCE_DIR}/cmake/TailraceDiscover.cmake)
  file(WRITE ${include}
    "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n"
    "  add_test(tailrace.${name}.NOT_BUILT \"${target} was not built\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()

function(tailrace_add_unit_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS;ENV" ${ARGN})
  tailrace_default(arg_TIMEOUT 60)
  tailrace_doctest_program(${arg_NAME} plain MAIN tailrace_unit_main
    SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} TIMEOUT ${arg_TIMEOUT} RANKS 1
    LABELS ${arg_LABELS} ENV ${arg_ENV})
endfunction()

function(tailrace_add_mpi_test)
  cmake_parse_arguments(arg "ROMIO" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS;ENV;RANKS" ${ARGN})
  tailrace_default(arg_TIMEOUT 60)
  if(NOT arg_RANKS)
    message(FATAL_ERROR "tailrace_add_mpi_test(${arg_NAME}): RANKS is missing")
  endif()
  if(NOT TAILRACE_HAVE_MPI)
    return() # the summary says that MPI is off; the floor of tests is set accordingly
  endif()
  set(kinds mpi)
  if(arg_ROMIO AND TAILRACE_ROMIO_COMPONENT)
    list(APPEND kinds romio)
  endif()
  tailrace_doctest_program(${arg_NAME} "${kinds}" MAIN tailrace_mpi_main
    SOURCES ${arg_SOURCES} LIBS MPI::MPI_C ${arg_LIBS} TIMEOUT ${arg_TIMEOUT} RANKS ${arg_RANKS}
    LABELS ${arg_LABELS} ENV ${arg_ENV})
endfunction()

function(tailrace_add_script_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT;RANKS;PROCESSORS" "COMMAND;LABELS;ENV" ${ARGN})
  tailrace_default(arg_TIMEOUT 60)
  tailrace_default(arg_RANKS 1)
  math(EXPR half "(${arg_RANKS} + 1) / 2")
  tailrace_default(arg_PROCESSORS ${half})
  tailrace_room(${arg_NAME} room)
  set(test tailrace.${arg_NAME}.np${arg_RANKS})
  set(options --name ${test} --seconds ${arg_TIMEOUT})
  if(arg_PROCESSORS LESS arg_RANKS)
    list(APPEND arg_LABELS waits)
  endif()
  foreach(setting IN LISTS arg_ENV)
    list(APPEND options --env ${setting})
  endforeach()
  add_test(NAME ${test} COMMAND ${tailrace_run_case} ${options} -- ${arg_COMMAND})
  set_tests_properties(${test} PROPERTIES PROCESSORS ${arg_PROCESSORS} TIMEOUT ${arg_TIMEOUT}
    COST ${arg_TIMEOUT} # in a fresh clone, too, the long ones come first
    LABELS "${room};np${arg_RANKS};${arg_LABELS}" FAIL_REGULAR_EXPRESSION "HDF5-DIAG"
    SKIP_RETURN_CODE 77 TIMEOUT_SIGNAL_NAME SIGTERM TIMEOUT_SIGNAL_GRACE_PERIOD 5)
endfunction()

function(tailrace_add_python_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "PATHS" ${ARGN})
  tailrace_default(arg_TIMEOUT 120)
  # pytest-timeout first: it shows where the test stands.
  math(EXPR inner "${arg_TIMEOUT} - 5")
  tailrace_add_script_test(NAME ${arg_NAME} TIMEOUT ${arg_TIMEOUT}
    COMMAND ${TAILRACE_PYTHON_EXECUTABLE} -m pytest -q -p no:cacheprovider -o timeout=${inner}
      --rootdir=${PROJECT_SOURCE_DIR} ${arg_PATHS}
    ${arg_UNPARSED_ARGUMENTS})
endfunction()
