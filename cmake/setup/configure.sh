#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configures build/<preset> when it was not, or when what it stands on has changed (the superbuild,
# the presets, the environment). Afterwards ninja sees to changes by itself.   configure.sh <preset>
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
preset=${1:?configure.sh wants a preset}
build=$root/build/$preset
deps=default
[ "$preset" != mpich ] || deps=mpich

state="$("$root/cmake/deps/superbuild.sh" --mpi $deps --print-prefix) $(cat "$root"/build/venv/.complete*) $(sha256sum <"$root/CMakePresets.json") ${HDF5_ROOT-} ${NETCDF_ROOT-} ${MPI_HOME-} ${CC-} ${CXX-}"
if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.configured" 2>/dev/null)" != "$state" ]; then
    # --fresh: results of probes do not outlive what they found.
    (cd "$root" && "$root/build/venv/bin/cmake" --preset "$preset" --fresh \
        -DCMAKE_MAKE_PROGRAM="$root/build/venv/bin/ninja" -DTAILRACE_COMPILER_CACHE=ON)
    echo "$state" >"$build/.configured"
fi
if [ "$preset" = release ]; then
    ln -sfn "build/$preset/env.sh" "$root/env.sh"
fi
