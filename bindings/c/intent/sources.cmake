# SPDX-License-Identifier: Apache-2.0
# What the library of declared intents is made of, for the house and for the Python package, which is
# also built alone. What it takes from other rooms is apart: the house has compiled it already.
set(tailrace_declaring_folder ${CMAKE_CURRENT_LIST_DIR})
set(tailrace_declaring_sources intent.cpp process_hdf5.cpp scopes.cpp)
set(tailrace_declaring_borrowed
  ../../../src/core/box.cpp
  ../../../src/core/config.cpp
  ../../../src/core/config_values.cpp
  ../../../src/core/error.cpp
  ../../../src/core/key_table.cpp
  ../../../src/intent/declare/declaration.cpp
  ../../../src/intent/declare/keys.cpp
  ../../../src/intent/declare/match.cpp
  ../../../src/core/json/document.cpp
  ../../../src/intent/profile/process_set.cpp)
list(TRANSFORM tailrace_declaring_sources PREPEND ${tailrace_declaring_folder}/)
list(TRANSFORM tailrace_declaring_borrowed PREPEND ${tailrace_declaring_folder}/)

# Its sources are its own, hidden, and it is never unloaded: hooks keep the address of a function.
# Programs with and without sanitizers link it, and Python loads it.
function(tailrace_set_up_declaring target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${tailrace_declaring_folder}
    ${tailrace_declaring_folder}/../../../src ${tailrace_declaring_folder}/../../../include)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden
    -fno-sanitize=all)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -fno-sanitize=all LINKER:--as-needed LINKER:-z,defs
    LINKER:-z,nodelete LINKER:--exclude-libs,ALL)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tailrace_intent)
endfunction()
