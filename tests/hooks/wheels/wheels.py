# SPDX-License-Identifier: Apache-2.0
"""Wheels of other years (cmake/setup/wheels.sh), and the scripts with them."""

from __future__ import annotations

import sys
from pathlib import Path

from own_namespace import not_run
from runs import Words

HERE = Path(__file__).resolve().parent
WHEELS = HERE.parents[2] / "build" / "wheels"
SCRIPTS = {"h5py": "with_h5py.py", "netCDF4": "with_netcdf4.py", "tables": "with_tables.py"}


def wheels_of(year: str) -> Path:
    folder = WHEELS / year
    if not folder.is_dir():
        not_run(f"needs the wheels of {year} ({folder}); cmake/setup/wheels.sh gets them")
    return folder


def command(library: str, year: str = "") -> Words:
    """The script; year "" is for the wheels of the private environment."""
    added = [wheels_of(year)] if year else []
    return [sys.executable, HERE / SCRIPTS[library], *added]
