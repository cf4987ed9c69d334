#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HDF5 1.14 for the tests of the connector, built once below the cache as the superbuild is, and the
# programs of those tests with it. Where it cannot be had the tests say so.
#   older_hdf5.sh <build> default|mpich <jobs>
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?older_hdf5.sh wants a build folder}
flavour=${2:?older_hdf5.sh wants default or mpich}
cmake=$root/build/venv/bin/cmake
say() { echo "setup: $*" >&2; }

if grep -q '^TAILRACE_HDF5:.*=OFF$\|^TAILRACE_TESTS:.*=OFF$' "$build/CMakeCache.txt"; then
    exit 0
fi
prefix=$("$root/cmake/deps/superbuild.sh" --mpi "$flavour" --hdf5 1.14) || {
    say "HDF5 1.14 cannot be had; tests with it will not be run"
    exit 0
}
grep -q "^TAILRACE_HDF5_1_14:PATH=$prefix\$" "$build/CMakeCache.txt" ||
    "$cmake" -DTAILRACE_HDF5_1_14="$prefix" "$build" >/dev/null
# Without MPI there are none.
"$cmake" --build "$build" --target help | grep -q 'vol_programs_1_14' || exit 0
"$cmake" --build "$build" --parallel "${3:-2}" --target vol_programs_1_14
