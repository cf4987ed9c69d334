# SPDX-License-Identifier: Apache-2.0
"""One epoch of a training's reader (h5py): 32 samples from each of 1,024 files, shuffled."""

import argparse
import random
from pathlib import Path

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", type=Path, default=Path("samples"), help="folder")
parser.add_argument("--output", default="epoch.h5")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of files")
options = parser.parse_args()

SAMPLES, SIDE = 32, 32
files = max(2, round(1024 * options.scale))
names = [options.input / f"shard_{number:05d}.h5" for number in range(files)]

if options.make_input:
    options.input.mkdir(exist_ok=True)
    picture = np.arange(SAMPLES * SIDE * SIDE, dtype="u4").reshape(SAMPLES, SIDE, SIDE)
    for number, name in enumerate(names):
        with h5py.File(name, "w") as file:
            file["images"] = ((picture + number) % 251).astype("u1")
            file["labels"] = (np.arange(SAMPLES) + number) % 10
else:
    order = [(name, sample) for name in names for sample in range(SAMPLES)]
    random.Random(1).shuffle(order)
    sums = np.zeros((10, SIDE, SIDE))
    for name, sample in order:
        with h5py.File(name, "r") as file:
            sums[file["labels"][sample]] += file["images"][sample]
    with h5py.File(options.output, "w") as out:
        out["sums"] = sums
