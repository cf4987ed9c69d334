# SPDX-License-Identifier: Apache-2.0
"""Time series at places out of a file of compressed maps (xarray over netCDF-4, or with dask)."""

import argparse

import numpy as np
import xarray as xr

parser = argparse.ArgumentParser()
parser.add_argument("--input", default="maps.nc")
parser.add_argument("--output", default="series.nc")
parser.add_argument("--make-input", action="store_true", help="write the input, then stop")
parser.add_argument("--dask", action="store_true", help="open it in dask's chunks, for a mean")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of places")
options = parser.parse_args()

STEPS, NORTH, EAST = 96, 512, 512
places = max(2, round(32 * options.scale))

if options.make_input:
    steps = STEPS if options.scale >= 0.5 else 8
    step, north, east = np.ogrid[:steps, :NORTH, :EAST]
    values = (280 + 10 * np.sin(0.02 * north) * np.cos(0.015 * east) + 0.1 * step).astype("f4")
    maps = xr.Dataset({"t2m": (("time", "lat", "lon"), values)})
    encoding = {"zlib": True, "complevel": 1, "shuffle": True, "chunksizes": (1, NORTH, EAST)}
    maps.to_netcdf(options.input, engine="netcdf4", encoding={"t2m": encoding})
elif options.dask:
    # Blocks of all steps and few rows, as a mean over time wants them.
    rows = max(1, NORTH // places)
    with xr.open_dataset(options.input, chunks={"lat": rows}) as maps:
        maps["t2m"].mean("time").to_netcdf(options.output)
else:
    found = []
    with xr.open_dataset(options.input) as maps:
        for place in range(places):
            where = {"lat": place * 997 % NORTH, "lon": place * 613 % EAST}
            found.append(maps["t2m"].isel(where).load().drop_vars(list(maps.coords)))
        xr.concat(found, "place").to_netcdf(options.output)
