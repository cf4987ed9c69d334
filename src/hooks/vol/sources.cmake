# SPDX-License-Identifier: Apache-2.0
# What the connector is made of, for the house and for the Python package, which is also built alone.
set(tailrace_vol_folder ${CMAKE_CURRENT_LIST_DIR})
set(tailrace_vol_sources
  library/library.cpp
  library/ranks.cpp
  record/places.cpp
  record/recorder_datasets.cpp
  record/recorder_declared.cpp
  record/recorder_delivered.cpp
  record/recorder_files.cpp
  record/recorder_lives.cpp
  record/recorder_outcomes.cpp
  record/recorder_state.cpp
  record/recorder_transfers.cpp
  record/track.cpp
  objects/describe.cpp
  objects/own_settings.cpp
  plan/choices.cpp
  plan/open_caches.cpp
  plan/open_drivers.cpp
  plan/plan.cpp
  holes/fill_values.cpp
  holes/holes.cpp
  holes/holes_of_ranks.cpp
  holes/selected.cpp
  holes/written_bits.cpp
  holes/written_places.cpp
  observe/declared.cpp
  observe/delivered.cpp
  observe/names_of_links.cpp
  observe/note_dataset.cpp
  observe/transfers.cpp
  apply/cache_memory.cpp
  apply/changed_chunks.cpp
  apply/direct_chunks.cpp
  apply/kept_caches.cpp
  apply/leads_elsewhere.cpp
  apply/proven.cpp
  apply/put_dataset.cpp
  apply/put_file.cpp
  apply/put_transfer.cpp
  apply/subfiles.cpp
  apply/tune_dataset.cpp
  apply/tune_file.cpp
  apply/tune_together.cpp
  apply/tune_transfer.cpp
  calls/calls_attribute.cpp
  calls/calls_dataset.cpp
  calls/calls_file.cpp
  calls/calls_group.cpp
  calls/calls_link.cpp
  calls/calls_rest.cpp
  calls/connector.cpp
  calls/filter_folders.cpp
  calls/info.cpp
  calls/object.cpp
  calls/older.cpp
  ../common/mpi_choice.cpp
  ../common/mpi_library.cpp
  ../common/outcomes.cpp
  ../common/plan_file.cpp
  ../common/spooling.cpp
  ../../core/memory_groups.cpp
  ../../intent/plan/decode.cpp
  ../../intent/plan/functions.cpp
  ../../intent/plan/keys.cpp
  ../../intent/plan/lookup.cpp
  ../../intent/plan/unasked_caches.cpp
  ../../intent/spool/writer.cpp)
list(TRANSFORM tailrace_vol_sources PREPEND ${tailrace_vol_folder}/)

# No C++ run-time library below foreign programs, and never unloaded: a library that closes and opens
# again goes on with the same spool. Loaded below programs that were not built with sanitizers;
# SANITIZED is a second one for tests, in the folder "sanitized".
function(tailrace_set_up_vol target version)
  cmake_parse_arguments(arg SANITIZED "" "" ${ARGN})
  set(plain -fno-sanitize=all)
  set(folder plugin)
  if(arg_SANITIZED)
    set(plain "")
    set(folder sanitized)
  endif()
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${tailrace_vol_folder}/../..)
  target_compile_definitions(${target} PRIVATE TAILRACE_VERSION="${version}" _GLIBCXX_NO_ASSERTIONS)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fno-exceptions -fno-rtti
    -fno-threadsafe-statics -fasynchronous-unwind-tables ${plain})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE ${plain} LINKER:--as-needed LINKER:-z,defs
    LINKER:-z,nodelete LINKER:--version-script=${tailrace_vol_folder}/exports.map)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tailrace_vol PREFIX lib SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder} INSTALL_RPATH ""
    LINK_DEPENDS ${tailrace_vol_folder}/exports.map)
endfunction()
