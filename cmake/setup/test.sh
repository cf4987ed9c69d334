#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make test`: CTest, then where the time went, what was not run and why.
#   test.sh <build> <jobs> [regex]
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?test.sh wants a build folder}
list=$build/tests/not_run.txt
times=$build/tests/times.xml
rm -f "$list" "$times"
# Where Python may not write bytecode itself, every start of the command would compile it anew.
"$root/build/venv/bin/python" -m compileall -q "$root/python/tailrace"
"$root/build/venv/bin/ctest" --test-dir "$build" --output-on-failure --parallel "${2:-2}" \
    --output-junit "$(cd "$build" && pwd)/tests/times.xml" ${3:+-R "$3"}
code=$?
[ ! -f "$times" ] ||
    "$root/build/venv/bin/python" "$root/cmake/setup/test_times.py" "$times" "$root/tests/budgets.json"
if [ -s "$list" ]; then
    echo
    echo "$(wc -l <"$list") tests were not run:"
    sort "$list" | sed 's/^/  /'
fi
exit $code
