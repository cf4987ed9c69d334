# SPDX-License-Identifier: Apache-2.0
"""Appends to a dataset that begins with one element, of which h5py makes the chunk (h5py)."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="series.h5")
parser.add_argument("--by-hand", action="store_true", help="chunks of an append instead")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of appends")
options = parser.parse_args()

MANY = 1000
appends = max(4, round(300 * options.scale))

with h5py.File(options.output, "w") as file:
    series = file.create_dataset(
        "series", (1,), "f8", maxshape=(None,), chunks=(MANY,) if options.by_hand else None
    )
    for number in range(appends):
        series.resize((number + 1) * MANY, axis=0)
        series[-MANY:] = number + 0.001 * np.arange(MANY)
