#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# small_disk.sh RANKS OBSERVE PROGRAM: runs PROGRAM with a tmpfs of 8 MiB and a read-only one, in a
# mount name space of its own (as a plain user in a user name space), so that nothing stays mounted.
set -eu
if [ "${1-}" != inside ]; then
    for words in "unshare -m" "unshare -r -m"; do
        if $words sh -c 'mount -t tmpfs -o size=64k tailrace-probe /tmp' 2>/dev/null; then
            exec $words -- "$0" inside "$@"
        fi
    done
    why="needs \`unshare -m\`; run it as root with CAP_SYS_ADMIN, or allow user name spaces: \
sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
    echo "$why" >>"$TAILRACE_TEST_NOT_RUN"
    exit 0
fi
ranks=$2 observe=$3 program=$4
mkdir small read_only
mount -t tmpfs -o size=8m tailrace-small small
mount -t tmpfs -o size=1m,ro tailrace-read-only read_only
export TAILRACE_TEST_SMALL_DISK="$PWD/small" TAILRACE_TEST_READ_ONLY="$PWD/read_only"
export TAILRACE_TEST_OBSERVE="$observe" TAILRACE_TEST_RANKS="$ranks"
# shellcheck disable=SC2086
$TAILRACE_TEST_MPIEXEC -n "$ranks" "$program"
