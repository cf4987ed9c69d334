#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make wheel`: the Python package with its compiled helper, the HDF5 connector and the hooks of MPI-IO
# and system calls, for this Python and every Linux whose C library is new enough. Nothing foreign is
# in it, and pip installs it without a compiler.   wheel.sh [folder, default dist]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$root/build/venv/bin/python
mkdir -p "${1:-$root/dist}"
out=$(cd "${1:-$root/dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
say() { echo "wheel: $*" >&2; }

"$root/cmake/setup/python.sh" test # auditwheel is among that
# The headers of JSON and of xxHash are the system's, the packages that build it those of build/venv.
PATH=$root/build/venv/bin:$PATH "$python" -m pip --quiet --disable-pip-version-check wheel --no-deps \
    --no-build-isolation --wheel-dir "$work" --config-settings="build-dir=$root/build/wheel" \
    --config-settings=cmake.define.TAILRACE_PORTABLE=ON \
    --config-settings=cmake.define.TAILRACE_COMPILER_CACHE=ON "$root" </dev/null
wheel=$(echo "$work"/tailrace-*.whl)
case $wheel in
*-none-any.whl)
    say "error: nothing was compiled; pip says why:"
    say "       $python -m pip wheel --no-deps --no-build-isolation --verbose $root"
    exit 1
    ;;
esac
# It names the oldest system that has all symbols. What is not on each system it would copy in.
if ! PATH=$root/build/venv/bin:$PATH "$python" -m auditwheel repair --only-plat --wheel-dir "$work/done" \
    "$wheel" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    say "error: auditwheel does not take the wheel"
    exit 1
fi
wheel=$(echo "$work"/done/tailrace-*.whl)
foreign=$("$python" -m zipfile -l "$wheel" | grep '\.libs/' || true)
if [ -n "$foreign" ]; then
    echo "$foreign" >&2
    say "error: these libraries are not ours"
    exit 1
fi
rm -f "$out"/tailrace-*.whl
mv "$wheel" "$out/"
say "$(du -h "$out/$(basename "$wheel")" | cut -f1) in $out/$(basename "$wheel")"
