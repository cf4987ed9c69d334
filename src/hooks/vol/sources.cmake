# SPDX-License-Identifier: Apache-2.0
# What the connector is made of, for the house and for the Python package, which is also built alone.
set(tailrace_vol_folder ${CMAKE_CURRENT_LIST_DIR})
set(tailrace_vol_sources
  cache_memory.cpp
  calls_attribute.cpp
  calls_dataset.cpp
  calls_file.cpp
  calls_group.cpp
  calls_link.cpp
  calls_rest.cpp
  changed_chunks.cpp
  choices.cpp
  connector.cpp
  declared.cpp
  delivered.cpp
  describe.cpp
  direct_chunks.cpp
  fill_values.cpp
  filter_folders.cpp
  holes.cpp
  holes_of_ranks.cpp
  info.cpp
  kept_caches.cpp
  leads_elsewhere.cpp
  library.cpp
  note_dataset.cpp
  object.cpp
  older.cpp
  open_caches.cpp
  open_drivers.cpp
  own_settings.cpp
  places.cpp
  plan.cpp
  proven.cpp
  put_dataset.cpp
  put_file.cpp
  put_transfer.cpp
  ranks.cpp
  recorder_datasets.cpp
  recorder_declared.cpp
  recorder_delivered.cpp
  recorder_files.cpp
  recorder_lives.cpp
  recorder_outcomes.cpp
  recorder_state.cpp
  recorder_transfers.cpp
  selected.cpp
  subfiles.cpp
  track.cpp
  transfers.cpp
  tune_dataset.cpp
  tune_file.cpp
  tune_together.cpp
  tune_transfer.cpp
  written_bits.cpp
  written_places.cpp
  ../common/mpi_choice.cpp
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
