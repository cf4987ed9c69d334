# SPDX-License-Identifier: Apache-2.0
"""Frames of a detector along the last axis of a cube, in cubic chunks (h5py)."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="cube.h5")
parser.add_argument("--by-hand", action="store_true", help="chunks of a frame instead")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of frames")
options = parser.parse_args()

ROWS, COLUMNS, EDGE = 512, 512, 64
frames = max(EDGE, round(384 * options.scale))
chunk = (ROWS, COLUMNS, 1) if options.by_hand else (EDGE, EDGE, EDGE)
place = np.arange(ROWS * COLUMNS, dtype="u4").reshape(ROWS, COLUMNS)

with h5py.File(options.output, "w") as file:
    cube = file.create_dataset("cube", (ROWS, COLUMNS, frames), "f4", chunks=chunk)
    for number in range(frames):
        cube[:, :, number] = place % (number + 251)
