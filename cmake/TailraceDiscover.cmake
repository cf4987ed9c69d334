# SPDX-License-Identifier: Apache-2.0
# After a doctest program was linked: asks it for its cases and writes one add_test per case, number
# of ranks and kind of run. Run as a script, see TailraceTest.cmake.
foreach(list IN ITEMS kinds ranks labels environment)
  string(REPLACE "|" ";" ${list} "${${list}}")
endforeach()

execute_process(COMMAND ${program} --list-test-cases --no-version --no-intro
  OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} does not list its test cases (${failed})")
endif()
# Characters that CMake's lists or the generated file would misread.
string(REPLACE ";" "<semicolon>" listed "${listed}")
string(REPLACE "[" "<open>" listed "${listed}")
string(REPLACE "]" "<close>" listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")

math(EXPR ctest_timeout "${timeout} + 30")
set(settings "")
foreach(setting IN LISTS environment)
  string(APPEND settings " --env \"${setting}\"")
endforeach()
string(JOIN ";" labels ${labels})

set(text "")
set(seen "")
foreach(case IN LISTS listed)
  if(case STREQUAL "" OR case MATCHES "^===============|^\\<open>doctest")
    continue()
  endif()
  set(case_ranks ${ranks})
  set(short "${case}")
  if(case MATCHES "^(.*) <open>np=([0-9]+)<close>$") # TAILRACE_MPI_TEST(4, "...")
    set(short "${CMAKE_MATCH_1}")
    set(case_ranks ${CMAKE_MATCH_2})
    if(NOT case_ranks IN_LIST ranks)
      list(APPEND missing_ranks ${case_ranks})
    endif()
  endif()
  foreach(pair IN ITEMS "<open>=[" "<close>=]" "<semicolon>=;")
    string(REGEX MATCH "^(<[a-z]+>)=(.)$" _ "${pair}")
    string(REPLACE "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" case "${case}")
    string(REPLACE "${CMAKE_MATCH_1}" "" short "${short}")
  endforeach()
  string(REGEX REPLACE "[^A-Za-z0-9]+" "_" short "${short}")
  string(REGEX REPLACE "^_|_$" "" short "${short}")
  if(short IN_LIST seen)
    message(FATAL_ERROR "${program}: two test cases are called \"${case}\" or nearly so")
  endif()
  list(APPEND seen "${short}")
  # doctest's filter: a comma separates, a backslash escapes, and * ? are wild (they match themselves).
  string(REPLACE "\\" "\\\\" filter "${case}")
  string(REPLACE "," "\\," filter "${filter}")
  foreach(count IN LISTS case_ranks)
    # Ranks wait for each other and for the disk: four of them use 1.1 cores.
    math(EXPR processors "(${count} + 3) / 4")
    foreach(kind IN LISTS kinds)
      set(test "tailrace.${name}.${short}.np${count}")
      set(options "--seconds ${timeout}")
      set(more "")
      if(NOT kind STREQUAL "plain")
        string(APPEND options " --mpi ${count}")
      endif()
      if(kind STREQUAL "romio")
        string(APPEND test ".romio")
        string(APPEND options " --romio")
        set(more ";romio")
      endif()
      string(APPEND text "add_test([==[${test}]==] \"${run_case}\" --name [==[${test}]==] "
        "${options}${settings} -- "
        "\"${program}\" [==[--test-case=${filter}]==])\n"
        "set_tests_properties([==[${test}]==] PROPERTIES PROCESSORS ${processors} "
        "TIMEOUT ${ctest_timeout} LABELS \"${labels};np${count}${more}\" "
        "FAIL_REGULAR_EXPRESSION HDF5-DIAG SKIP_RETURN_CODE 77 "
        "TIMEOUT_SIGNAL_NAME SIGTERM TIMEOUT_SIGNAL_GRACE_PERIOD 5)\n")
    endforeach()
  endforeach()
endforeach()
if(text STREQUAL "")
  message(FATAL_ERROR "${program} has no test cases")
endif()
file(WRITE ${output} "${text}")
