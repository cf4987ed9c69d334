# SPDX-License-Identifier: Apache-2.0
"""Nothing to gain: a field written and read back once, in whole chunks that fit (h5py)."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="field.h5")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of slabs")
options = parser.parse_args()

SIDE = 1024
slabs = max(2, round(160 * options.scale))

with h5py.File(options.output, "w") as file:
    field = file.create_dataset(
        "field", (slabs, SIDE, SIDE), "f4", chunks=(1, SIDE, SIDE), compression="gzip"
    )
    place = np.arange(SIDE * SIDE, dtype="f4").reshape(SIDE, SIDE) % 509
    for slab in range(slabs):
        field[slab] = place + slab
with h5py.File(options.output, "r+") as file:
    file["means"] = [slab.mean(dtype="f8") for slab in file["field"]]
