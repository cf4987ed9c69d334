# SPDX-License-Identifier: Apache-2.0
"""A climate model's output, a map per step, into chunks made for time series (netCDF4-python)."""

import argparse

import netCDF4
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="climate.nc")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of steps")
options = parser.parse_args()

NORTH, EAST, DEPTH = 720, 1440, 24
steps = max(2, round(24 * options.scale))

with netCDF4.Dataset(options.output, "w") as file:
    for name, extent in (("time", max(DEPTH, steps)), ("lat", NORTH), ("lon", EAST)):
        file.createDimension(name, extent)
    time = file.createVariable("time", "f8", ("time",))
    time.units = "days since 2000-01-01"
    air = file.createVariable(
        "tas",
        "f4",
        ("time", "lat", "lon"),
        zlib=True,
        complevel=1,
        shuffle=True,
        chunksizes=(DEPTH, 90, 90),
    )
    air.units = "K"
    north = 30 * np.cos(np.linspace(-1.5, 1.5, NORTH, dtype="f4"))[:, None]
    east = np.sin(np.linspace(0, 6, EAST, dtype="f4"))[None, :]
    for step in range(steps):
        time[step] = step
        air[step] = 250 + north + np.float32(np.cos(0.017 * step)) * east
