# SPDX-License-Identifier: Apache-2.0
# The sources of this room: also compiled into the Python helper where pip builds it alone.
set(tailrace_intent_sources
  intents/access.cpp
  intents/classic.cpp
  intents/derive.cpp
  intents/derive_dataset.cpp
  intents/derive_one.cpp
  intents/intents_json.cpp
  intents/join.cpp
  intents/path_parts.cpp
  intents/patterns.cpp
  intents/producers.cpp
  intents/purpose.cpp
  intents/sharing.cpp
  intents/statements.cpp
  intents/transfers.cpp
  intents/words.cpp
  json/document.cpp
  profile/process_set.cpp
  profile/profile_json.cpp
  spool/coverage.cpp
  spool/decode.cpp
  spool/merge.cpp
  spool/merge_datasets.cpp
  spool/merge_files.cpp
  spool/merge_transfers.cpp)
list(TRANSFORM tailrace_intent_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
