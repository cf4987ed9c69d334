#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make install`: the built tree, and beside the `tailrace` command the Python packages that it
# imports, so that it needs neither this clone nor build/venv.   install.sh <build> <prefix>
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?install.sh wants a build folder}
say() { echo "install: $*" >&2; }
[ -z "${DESTDIR-}" ] || {
    say "error: DESTDIR is not known here, since the tree may be moved: call make install PREFIX=$DESTDIR${2-}"
    exit 2
}
mkdir -p "${2:?install.sh wants a prefix}"
prefix=$(cd "$2" && pwd)
venv=$root/build/venv/bin

rm -rf "$prefix/lib/tailrace/python/tailrace"
"$venv/cmake" --install "$build" --prefix "$prefix" >/dev/null
[ -x "$prefix/bin/tailrace" ] || { # TAILRACE_PYTHON=OFF
    say "the programs and libraries are in $prefix, without the tailrace command"
    exit 0
}
list=$(mktemp)
trap 'rm -rf "$list" "$prefix/lib/tailrace/python.new"' EXIT
"$venv/python" "$root/cmake/setup/requires.py" >"$list"
# Beside those of an earlier installation, which go only if the new ones are there.
packages=$prefix/lib/tailrace/python
"$venv/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --target "$packages.new" --constraint "$root/cmake/setup/requirements.txt" \
    -r "$list" </dev/null || {
    say "error: the Python packages of the tailrace command could not be had; the programs are in $prefix."
    say "       hint: once there is a network, call make install again; or name a Python that has them:"
    say "       export TAILRACE_PYTHON=$venv/python"
    exit 1
}
mv "$packages/tailrace" "$packages.new/tailrace"
rm -rf "$packages"
mv "$packages.new" "$packages"
case $("$venv/python" -c 'import sys; print(sys.base_prefix)'):$(ldd "$prefix/bin/tailrace-seism" 2>/dev/null || :) in
    *"${HOME:-/nowhere}/"*) say "note: it needs libraries or a Python below ${HOME:-}, which other users may not be able to read; make bundle has all inside" ;;
esac
say "$("$prefix/bin/tailrace" --version | head -n 1) is in $prefix; put $prefix/bin on your PATH"
