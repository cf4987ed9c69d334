# SPDX-License-Identifier: Apache-2.0
"""Time series of stations out of rows of time steps (h5py).

A model writes what all stations measure, a row per step, and then looks at each station's series:
a column of a contiguous, row-major dataset.
"""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="stations.h5")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of stations")
options = parser.parse_args()

STEPS = 4096
stations = max(32, round(2048 * options.scale))
looked_at = max(2, round(512 * options.scale))

with h5py.File(options.output, "w") as file:
    level = file.create_dataset("level", (STEPS, stations), "f8")
    place = np.arange(stations)
    for step in range(STEPS):
        level[step] = np.sin(0.01 * step) + 0.001 * place
    mean, spread = np.empty(looked_at), np.empty(looked_at)
    for number in range(looked_at):
        series = level[:, number * (stations // looked_at)]
        mean[number], spread[number] = series.mean(), series.std()
    file["mean"], file["spread"] = mean, spread
