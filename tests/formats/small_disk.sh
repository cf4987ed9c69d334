#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# small_disk.sh RANKS OBSERVE PROGRAM: runs PROGRAM with a tmpfs of 8 MiB and a read-only one, in a
# mount name space of its own (as a plain user in a user name space), so that nothing stays mounted.
set -eu
if [ "${1-}" != inside ]; then
    if [ "$(id -u)" = 0 ]; then
        exec unshare -m -- "$0" inside "$@"
    fi
    exec unshare -r -m -- "$0" inside "$@"
fi
ranks=$2 observe=$3 program=$4
mkdir small read_only
mount -t tmpfs -o size=8m tailrace-small small
mount -t tmpfs -o size=1m,ro tailrace-read-only read_only
export TAILRACE_TEST_SMALL_DISK="$PWD/small" TAILRACE_TEST_READ_ONLY="$PWD/read_only"
export TAILRACE_TEST_OBSERVE="$observe" TAILRACE_TEST_RANKS="$ranks"
# shellcheck disable=SC2086
$TAILRACE_TEST_MPIEXEC -n "$ranks" "$program"
