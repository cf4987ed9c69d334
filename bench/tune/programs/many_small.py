# SPDX-License-Identifier: Apache-2.0
"""10,000 small datasets, each with attributes, in one file (h5py): results of a parameter study."""

import argparse

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="study.h5")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of datasets")
options = parser.parse_args()

count = max(4, round(10000 * options.scale))

with h5py.File(options.output, "w") as file:
    study = file.create_group("study")
    for number in range(count):
        case = study.create_dataset(f"case_{number:06d}", data=np.arange(32) * 0.5 + number)
        case.attrs["temperature"] = 270.0 + number % 40
        case.attrs["pressure"] = 1000 + number
with h5py.File(options.output, "r+") as file:
    total = sum(case[0] * case.attrs["temperature"] for case in file["study"].values())
    file.attrs["total"] = total
