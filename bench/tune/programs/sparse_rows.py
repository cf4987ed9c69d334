# SPDX-License-Identifier: Apache-2.0
"""Rows of a compressed sparse matrix, at random (h5py): chunks of 7,813 elements, as h5py guesses
them for a million."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="matrix.h5")
parser.add_argument("--output", default="sums.h5")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--by-hand", action="store_true", help="input in chunks that suit the reads")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of rows that it takes")
options = parser.parse_args()

ROWS, CHUNK = 40_000, 1024 if options.by_hand else 7813
taken = max(10, round(8_000 * options.scale))

if options.make_input:
    lengths = 60 + np.arange(ROWS) * 7919 % 81
    ends = np.concatenate([[0], np.cumsum(lengths)])
    place = np.arange(ends[-1], dtype="u4")
    noise = place * np.uint32(2654435761)
    with h5py.File(options.input, "w") as file:
        file["indptr"] = ends
        for name, values in (
            ("data", np.log1p(noise >> np.uint32(16)).astype("f8")),
            ("indices", (noise >> np.uint32(18)).astype("i8")),
        ):
            file.create_dataset(name, data=values, chunks=(CHUNK,), compression="gzip")
else:
    with h5py.File(options.input, "r") as file, h5py.File(options.output, "w") as out:
        ends, data, indices = file["indptr"][:], file["data"], file["indices"]
        sums = np.zeros(1 << 14)
        for row in np.random.default_rng(7).integers(0, ROWS, taken):
            part = slice(ends[row], ends[row + 1])
            np.add.at(sums, indices[part], data[part])
        out["sums"] = sums
