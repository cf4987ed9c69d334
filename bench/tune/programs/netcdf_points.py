# SPDX-License-Identifier: Apache-2.0
"""Series at points out of a file of maps (netCDF4-python): a map is a chunk of 255 KiB."""

import argparse

import netCDF4
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="maps.nc")
parser.add_argument("--output", default="points.nc")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--by-hand", action="store_true", help="input in chunks that suit the reads")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of points")
options = parser.parse_args()

STEPS, NORTH, EAST = 480 if options.scale >= 0.5 else 24, 180, 362
points = max(2, round(12 * options.scale))

if options.make_input:
    north, east = np.ogrid[:NORTH, :EAST]
    noise = np.arange(NORTH * EAST, dtype="u4").reshape(NORTH, EAST)
    with netCDF4.Dataset(options.input, "w") as file:
        for name, extent in (("time", STEPS), ("lat", NORTH), ("lon", EAST)):
            file.createDimension(name, extent)
        maps = file.createVariable(
            "t2m", "f4", ("time", "lat", "lon"), zlib=True, complevel=4, shuffle=True,
            chunksizes=(STEPS, 10, 10) if options.by_hand else (1, NORTH, EAST),
        )  # fmt: skip
        if options.by_hand:
            maps.set_var_chunk_cache(256 << 20, 7919, 1.0)
        for step in range(STEPS):
            small = ((noise + step) * np.uint32(2654435761) >> np.uint32(24)) / 64
            maps[step] = 280 + 10 * np.sin(0.02 * north) * np.cos(0.015 * east) + small
else:
    with netCDF4.Dataset(options.input) as file, netCDF4.Dataset(options.output, "w") as out:
        maps = file["t2m"]
        out.createDimension("point", points)
        out.createDimension("time", STEPS)
        series = out.createVariable("t2m", "f4", ("point", "time"))
        for point in range(points):
            series[point] = maps[:, point * 97 % NORTH, point * 61 % EAST]
