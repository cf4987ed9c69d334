#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests whose ranks are threads, under ThreadSanitizer and under AddressSanitizer with UBSan; the
# first finding ends a test.   sanitize.sh <jobs>
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tests=(comm_threads server_backend server_buffer server_every_order server_layout
    server_metadata server_profiler server_protocol)
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" UBSAN_OPTIONS="print_stacktrace=1"
export TAILRACE_TEST_CASE_SECONDS=1200
for preset in tsan asan; do
    "$root/cmake/setup/configure.sh" $preset
    build=$root/build/$preset
    "$root/build/venv/bin/ninja" -C "$build" -j "${1:-$(nproc)}" "${tests[@]/#/test_}" tailrace_random_calls
    for test in "${tests[@]}"; do
        # Every order of messages is tried by one thread: nothing for TSan, and it takes minutes.
        [ "$preset $test" != "tsan server_every_order" ] || continue
        echo "sanitize: $preset $test" >&2
        "$build/tests/bin/test_$test" --minimal
    done
    echo "sanitize: $preset random calls" >&2
    "$build/tests/run_case" --env TAILRACE_RANDOM_COUNT="${TAILRACE_RANDOM_COUNT:-30}" -- "$root/build/venv/bin/python" \
        -m pytest -q -p no:cacheprovider "$root/tests/server/test_random_calls.py" -k threads
done
