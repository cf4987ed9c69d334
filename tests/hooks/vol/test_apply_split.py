# SPDX-License-Identifier: Apache-2.0
"""Files of HDF5's drivers split and multi get no alignment: such files, natively made too, cannot
be opened again, or lack objects, and no call has failed."""

from __future__ import annotations

from pathlib import Path

from plans import applied, entry, setting, write_plan

# PyTables names the driver; in its HDF5 1.14.6 one small array is enough.
TEXT = """
import numpy as np, tables
for mode in "wa":
    with tables.open_file("parts", mode, driver="H5FD_SPLIT") as f:
        f.create_array("/", "x" + mode, np.arange(100))
with tables.open_file("parts", driver="H5FD_SPLIT") as f:
    print(f.root.xw[:].sum(), f.root.xa[:].sum())
with tables.open_file("one.h5", "w") as f:
    f.create_array("/", "x", np.arange(100))
"""


def test_no_alignment(tmp_path: Path) -> None:
    settings = [
        setting("1", "alignment_threshold_bytes", 64, "layout"),
        setting("1", "alignment_bytes", 4096, "layout"),
        setting("3", "meta_block_bytes", 1 << 16),
    ]
    ran, _ = applied(tmp_path, write_plan(tmp_path, entry("*", *settings)), TEXT)
    ran.expect(0)
    assert "4950 4950" in ran.err
    became = {
        (one["setting"], Path(place).name): (one["became"], one["reason"])
        for one in ran.json["lines"]
        for place in one["places"]
    }
    why = "files of the drivers split and multi cannot be read back with it"
    for key in ("alignment_threshold_bytes", "alignment_bytes"):
        assert became[key, "parts"] == ("held", why)
        assert became[key, "one.h5"] == ("applied", "")
    assert became["meta_block_bytes", "parts"] == ("applied", "")
