# SPDX-License-Identifier: Apache-2.0
"""A script as people write it: compressed chunks of 4 MiB, read and written a column at a time.

A column goes through 4 chunks, 16 MiB: neither the chunk cache of HDF5 1 (1 MiB) nor that of HDF5 2
(8 MiB) holds them, so that each access unpacks, changes and packs them all.
"""

import sys

import h5py
import numpy as np

ROWS, COLUMNS, STEP = 4096, 1024, 16

values = np.arange(ROWS * COLUMNS, dtype="f4").reshape(ROWS, COLUMNS) % 1000
with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset(
        "d", (ROWS, COLUMNS), "f4", chunks=(1024, 1024), compression="gzip", compression_opts=4
    )
    for column in range(0, COLUMNS, STEP):
        box = np.s_[:, column : column + STEP]
        data[box] = values[box]
with h5py.File(sys.argv[1], "r") as file:
    for column in range(0, COLUMNS, STEP):
        if not np.array_equal(file["d"][:, column], values[:, column]):
            sys.exit("what was read is not what was written")
