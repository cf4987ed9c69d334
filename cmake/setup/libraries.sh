#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HDF5 and netCDF-C: those of the system where they are good enough (parallel HDF5 1.14 or newer, at
# HDF5_ROOT or by the h5pcc on PATH), else the superbuild.   libraries.sh default|mpich
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
flavour=${1:?libraries.sh wants default or mpich}

good_enough() { # good_enough <h5pcc>
    "$1" -showconfig 2>/dev/null | awk -F: '
        /HDF5 Version/ { split($2, v, "[. ]+"); new = v[2] > 1 || v[2] == 1 && v[3] >= 14 }
        /Parallel HDF5/ { parallel = tolower($2) ~ /yes|on/ }
        END { exit !(new && parallel) }'
}

if [ "$flavour" = default ]; then
    if [ -n "${HDF5_ROOT-}" ]; then
        echo "setup: HDF5 of HDF5_ROOT=$HDF5_ROOT; no superbuild" >&2
        exit 0
    fi
    compiler=$(command -v h5pcc || true)
    if [ -n "$compiler" ] && good_enough "$compiler"; then
        echo "setup: HDF5 of $compiler; no superbuild" >&2
        exit 0
    fi
fi
"$root/cmake/deps/superbuild.sh" --mpi "$flavour" >/dev/null
