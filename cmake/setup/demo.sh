#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo`: a checkpoint pattern on 8 ranks, verified element by element; then in four settings,
# in turns, compared. What is left is the folder `demo` beside env.sh, with the report.
#   demo.sh <env.sh>
set -eu
build=$(cd "$(dirname "${1:?demo.sh wants the path of env.sh}")" && pwd)
# shellcheck disable=SC1091
. "$build/env.sh"
rounds=6 # the least number of pairs that a verdict can fall on
left="$build/demo"
folder=$(mktemp -d "${TMPDIR:-/tmp}/tailrace-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
rm -rf "$left"
mkdir -p "$left"
cd "$folder"
cat >demo.in <<'INPUT'
# 8 ranks, each with a block of 64 x 64 x 64 numbers; 8 slices over time: 64 MiB
processor 2 2 2
domain 64 64 64
chunk 64 64 64
time 8
fill position
collective_write
set_collective_metadata
never_fill
filename demo.h5
DONE
INPUT
echo "Tailrace demo in $folder, with this input:"
sed 's/^/    /' demo.in
tailrace run seism --ranks 8 --input demo.in
echo
echo "The same file, read again by an independent reader:"
tailrace verify demo.h5
rm -f demo.h5 results.jsonl

# 16 MiB each, so that all of it takes seconds. Every element is verified here too.
one_run() {
    # shellcheck disable=SC2086  (a launcher with options)
    $TAILRACE_MPIEXEC -n 8 tailrace-seism processor=2x2x2 domain=32x32x64 time=8 fill=position \
        verify filename=four.h5 results="$left/results.jsonl" "$@" >four.log 2>&1 || {
        code=$?
        cat four.log >&2
        exit "$code"
    }
}
chunk=chunk=32x32x64
echo
echo "Four settings in turns, $rounds rounds: collective or independent, chunked or contiguous"
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    echo "  round $round of $rounds" >&2
    if [ $((round % 2)) = 1 ]; then # whoever is first in one round is last in the next
        one_run "$chunk" collective_write
        one_run "$chunk"
        one_run collective_write
        one_run
    else
        one_run
        one_run collective_write
        one_run "$chunk"
        one_run "$chunk" collective_write
    fi
done
compare() {
    echo
    echo "$1"
    tailrace compare "$left/results.jsonl::$2" "$left/results.jsonl::$3"
}
compare "Chunked: independent (A) and collective (B)" \
    "$chunk,collective_write=false" "$chunk,collective_write=true"
compare "Collective: contiguous (A) and chunked (B)" \
    "chunk=none,collective_write=true" "$chunk,collective_write=true"
echo
tailrace report "$left/results.jsonl" -o "$left/report.html" --quiet
echo "All four settings in pictures:"
echo "$left/report.html"
