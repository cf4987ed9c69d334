#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo`: a checkpoint pattern of 64 MiB on 8 ranks in a temporary folder, verified element by
# element.   demo.sh <env.sh>
set -eu
# shellcheck disable=SC1090
. "${1:?demo.sh wants the path of env.sh}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/tailrace-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
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
