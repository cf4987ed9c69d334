# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)
function(tailrace_install_package)
endfunction()
