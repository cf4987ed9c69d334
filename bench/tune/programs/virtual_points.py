# SPDX-License-Identifier: Apache-2.0
"""Series at points out of a virtual dataset over files of compressed maps, one each day (h5py)."""

import argparse
from pathlib import Path

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="days")
parser.add_argument("--output", default="points.h5")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--by-hand", action="store_true", help="go file by file instead")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of points")
options = parser.parse_args()

DAYS, STEPS, NORTH, EAST = 12 if options.scale >= 0.2 else 3, 40, 180, 362
folder = Path(options.input)
points = max(2, round(20 * options.scale))
places = [(point * 97 % NORTH, point * 61 % EAST) for point in range(points)]

if options.make_input:
    folder.mkdir()
    shape = (STEPS, NORTH, EAST)
    layout = h5py.VirtualLayout((DAYS * STEPS, NORTH, EAST), "f4")
    for day in range(DAYS):
        name = f"day{day:02}.h5"
        with h5py.File(folder / name, "w") as file:
            values = 280 + np.random.default_rng(day).integers(0, 1024, shape, "u2") / np.float32(
                64
            )
            file.create_dataset("t2m", data=values, chunks=shape, compression=1, shuffle=True)
        layout[day * STEPS : (day + 1) * STEPS] = h5py.VirtualSource(name, "t2m", shape)
    with h5py.File(folder / "all.h5", "w") as file:
        file.create_virtual_dataset("t2m", layout)
else:
    series = np.empty((points, DAYS * STEPS), "f4")
    if options.by_hand:
        for day in range(DAYS):
            with h5py.File(folder / f"day{day:02}.h5", "r") as file:
                maps = file["t2m"][:]
            for point, (north, east) in enumerate(places):
                series[point, day * STEPS : (day + 1) * STEPS] = maps[:, north, east]
    else:
        with h5py.File(folder / "all.h5", "r") as file:
            maps = file["t2m"]
            for point, (north, east) in enumerate(places):
                series[point] = maps[:, north, east]
    with h5py.File(options.output, "w") as out:
        out["t2m"] = series
