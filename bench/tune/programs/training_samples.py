# SPDX-License-Identifier: Apache-2.0
"""Samples of a training set at random, one read each (h5py).

The set was written in blocks of 500 samples, which are the chunks, with gzip.
"""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="train.h5")
parser.add_argument("--output", default="means.h5")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--by-hand", action="store_true", help="input in chunks that suit the reads")
parser.add_argument(
    "--scale", type=float, default=1.0, help="of the number of samples that it takes"
)
options = parser.parse_args()

BLOCKS, BLOCK, STEPS, CHANNELS = 6, 500 if options.scale >= 0.5 else 50, 288, 19

if options.make_input:
    shape = (BLOCK, STEPS, CHANNELS)
    place = np.arange(np.prod(shape), dtype="u4").reshape(shape)
    chunk = (1, STEPS, CHANNELS) if options.by_hand else shape
    with h5py.File(options.input, "w") as file:
        samples = file.create_dataset(
            "X", (BLOCKS * BLOCK, STEPS, CHANNELS), "f4", chunks=chunk, compression="gzip"
        )
        for block in range(BLOCKS):
            counts = (place + block) * np.uint32(2654435761) >> np.uint32(20)
            samples[block * BLOCK : (block + 1) * BLOCK] = np.sqrt(counts)
else:
    taken = np.random.default_rng(7).permutation(BLOCKS * BLOCK)[
        : max(4, round(60 * options.scale))
    ]
    with h5py.File(options.input, "r") as file, h5py.File(options.output, "w") as out:
        samples = file["X"]
        out["means"] = np.array([samples[number].mean(axis=0) for number in taken])
