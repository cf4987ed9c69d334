# SPDX-License-Identifier: Apache-2.0
"""Events appended one by one to a compressed array, in chunks made for channels (PyTables)."""

import argparse

import numpy as np
import tables

parser = argparse.ArgumentParser()
parser.add_argument("--output", default="events.h5")
parser.add_argument("--scale", type=float, default=1.0, help="of the number of events")
options = parser.parse_args()

CHANNELS = 131072
events = max(2, round(40 * options.scale))

with tables.open_file(options.output, "w") as file:
    waves = file.create_earray(
        "/",
        "waves",
        tables.Int32Atom(),
        (0, CHANNELS),
        chunkshape=(64, 4096),
        filters=tables.Filters(complevel=1, complib="zlib", shuffle=True),
    )
    channel = np.arange(CHANNELS, dtype="i4")
    for event in range(events):
        waves.append(((channel * 7 + event) % 4096)[None, :])
