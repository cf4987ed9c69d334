#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The published slab runs (Cori KNL, 2018) as a batch job, `sbatch slab.sh`, or by hand in an
# interactive one (salloc --qos=interactive -t 01:00:00 -C knl,quad,cache -N 20 -S 4): collective and
# independent writes, each with the hints of the MPI library and with collective buffering and data
# sieving off. Elsewhere: N1, N2 (elements), FOLDER (where to write), LAUNCH (what starts the ranks).
#SBATCH --job-name=slab
#SBATCH --nodes=20
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:10:00
#SBATCH --constraint=knl,quad,cache
#SBATCH --core-spec=4
set -eu

n1=${N1:-40000000} n2=${N2:-50}
folder=${FOLDER:-$PWD/slab}
launch=${LAUNCH:-srun}

mkdir -p "$folder"
cd "$folder"
if command -v lfs >/dev/null; then
    lfs setstripe -c 20 -S 1M . # new files of the folder
fi

run() { # run T|F HINTS
    echo "== collective: $1, hints: ${2:-of the library}"
    # shellcheck disable=SC2086  # LAUNCH is several words
    MPICH_MPIIO_HINTS=$2 $launch tailrace-slab "$n1" "$n2" "$1"
    echo
}

for hints in '' '*:romio_cb_write=disable:romio_ds_write=disable'; do
    run T "$hints"
    run F "$hints"
done
