#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make install`: the built tree, and beside the `tailrace` command the Python packages that it
# imports, so that it needs neither this clone nor build/venv.   install.sh <build> <prefix>
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?install.sh wants a build folder}
mkdir -p "${2:?install.sh wants a prefix}"
prefix=$(cd "$2" && pwd)
venv=$root/build/venv/bin
say() { echo "install: $*" >&2; }

rm -rf "$prefix/lib/tailrace/python"
"$venv/cmake" --install "$build" --prefix "$prefix" >/dev/null
[ -x "$prefix/bin/tailrace" ] || { # TAILRACE_PYTHON=OFF
    say "the programs and libraries are in $prefix, without the tailrace command"
    exit 0
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
"$venv/python" "$root/cmake/setup/requires.py" >"$list"
"$venv/python" -m pip install --quiet --disable-pip-version-check --no-input --upgrade \
    --target "$prefix/lib/tailrace/python" --constraint "$root/cmake/setup/requirements.txt" \
    -r "$list" </dev/null || {
    say "error: the Python packages of the tailrace command could not be had; the programs are in $prefix."
    say "       hint: once there is a network, call make install again; or name a Python that has them:"
    say "       export TAILRACE_PYTHON=$venv/python"
    exit 1
}
say "$("$prefix/bin/tailrace" --version | head -n 1) is in $prefix; put $prefix/bin on your PATH"
