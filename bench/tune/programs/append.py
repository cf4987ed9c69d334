# SPDX-License-Identifier: Apache-2.0
"""A logger that appends one record at a time to datasets without an end (h5py)."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="log.h5")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of records")
options = parser.parse_args()

records = max(16, round(40000 * options.scale))
WIDE = np.dtype([("time", "f8"), ("sensor", "i4"), ("quality", "i4"), ("value", "f8", 14)])

with h5py.File(options.output, "w") as file:
    log = file.create_dataset("log", (0,), WIDE, maxshape=(None,), chunks=(1,))
    record = np.zeros((), WIDE)
    for number in range(records):
        record["time"] = 0.5 * number
        record["sensor"] = number % 97
        record["quality"] = number % 5
        record["value"] = number + np.arange(14)
        log.resize(number + 1, axis=0)
        log[number] = record
