# SPDX-License-Identifier: Apache-2.0
"""A row appended to compressed chunks of many rows, the file opened anew for each (h5py)."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="rows.h5")
parser.add_argument("--by-hand", action="store_true", help="chunks of 8 rows instead")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of rows")
options = parser.parse_args()

WIDE, LONG = 2000, 8 if options.by_hand else 256
rows = max(8, round(120 * options.scale))

with h5py.File(options.output, "w") as file:
    file.create_dataset(
        "rows", (0, WIDE), "f8", maxshape=(None, WIDE), chunks=(LONG, WIDE), compression="gzip"
    )
for number in range(rows):
    values = np.sqrt(np.random.default_rng(number).integers(0, 4096, WIDE))
    with h5py.File(options.output, "r+") as file:
        file["rows"].resize(number + 1, axis=0)
        file["rows"][number] = values
