# SPDX-License-Identifier: Apache-2.0
# Writes version_info.hpp; touches it only when something changed. -DOUTPUT= -DSOURCE=
file(STRINGS ${SOURCE}/VERSION version LIMIT_COUNT 1)
set(commit unknown)
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described)
    set(commit ${described})
  endif()
endif()
string(CONCAT text
  "// Generated when building.\n#pragma once\n\n"
  "#define TAILRACE_VERSION_TEXT \"${version}\"\n"
  "#define TAILRACE_COMMIT_TEXT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} present)
endif()
if(NOT "${present}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
