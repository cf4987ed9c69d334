# SPDX-License-Identifier: Apache-2.0
"""Frame by frame through a compressed image stack (h5py).

The detector stored blocks of many frames in gzip chunks; the analysis takes one frame at a time.
"""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="stack.h5")
parser.add_argument("--output", default="brightness.h5")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of frames")
options = parser.parse_args()

DEPTH, SIDE, TILE = 64, 512, 128
frames = max(2, round(96 * options.scale))

if options.make_input:
    with h5py.File(options.input, "w") as file:
        stack = file.create_dataset(
            "entry/data",
            (frames, SIDE, SIDE),
            "f4",
            chunks=(min(DEPTH, frames), TILE, TILE),
            compression="gzip",
            shuffle=True,
        )
        place = np.arange(DEPTH * SIDE * SIDE, dtype="u4").reshape(DEPTH, SIDE, SIDE)
        for first in range(0, frames, DEPTH):
            count = min(DEPTH, frames - first)
            counts = (place[:count] * np.uint32(2654435761) >> np.uint32(24)) + first
            stack[first : first + count] = np.sqrt(counts)
else:
    with h5py.File(options.input, "r") as file, h5py.File(options.output, "w") as out:
        stack = file["entry/data"]
        brightness = np.empty(len(stack))
        brightest = np.empty(stack.shape[1:], "f4")
        for number in range(len(stack)):
            frame = stack[number]
            brightness[number] = frame.mean(dtype="f8")
            np.maximum(brightest, frame, out=brightest) if number else np.copyto(brightest, frame)
        out["brightness"] = brightness
        out["brightest"] = brightest
