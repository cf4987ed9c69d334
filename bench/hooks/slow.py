# SPDX-License-Identifier: Apache-2.0
"""A script as people write it: compressed chunks of 2.5 MiB, written and read a column at a time.

A column goes through 4 chunks, 10 MiB: neither the chunk cache of HDF5 1 (1 MiB) nor that of HDF5 2
(8 MiB) holds them, so that each access unpacks, changes and packs them all.

`slow.py FILE [reopen]`: with the second word each read opens the dataset anew, as `file["d"][...]`
in a loop does.
"""

import sys

import h5py
import numpy as np

ROWS, COLUMNS = 4096, 640

values = np.arange(ROWS * COLUMNS, dtype="f4").reshape(ROWS, COLUMNS) % 1000
with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset(
        "d", (ROWS, COLUMNS), "f4", chunks=(1024, COLUMNS), compression="gzip", compression_opts=4
    )
    for column in range(COLUMNS):
        data[:, column] = values[:, column]
with h5py.File(sys.argv[1], "r") as file:
    data = file["d"]
    for column in range(COLUMNS):
        if "reopen" in sys.argv:
            data = file["d"]
        if not np.array_equal(data[:, column], values[:, column]):
            sys.exit("what was read is not what was written")
