#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make check-slice`: the published default test set on standard input of 8 ranks, then every element
# is verified. Writes 943 MB below $TMPDIR and removes them.   check_slice.sh <env.sh>
set -eu
# shellcheck disable=SC1090
. "${1:?check_slice.sh wants the path of env.sh}"
input=$(cd "$(dirname "$0")/../.." && pwd)/examples/classic/check-slice.in
folder=$(mktemp -d "${TMPDIR:-/tmp}/tailrace-slice.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cd "$folder"
free_kib=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [ "$free_kib" -lt 1500000 ]; then
    echo "check-slice: error: $folder has $free_kib KiB free and 1500000 are needed" >&2
    echo "       hint: TMPDIR=/a/larger/folder make check-slice" >&2
    exit 1
fi
# shellcheck disable=SC2086
$TAILRACE_MPIEXEC -n 8 seism-core-slice <"$input"
tailrace verify seism-test.h5
