# SPDX-License-Identifier: Apache-2.0
"""Small slab and particle files, as their definitions say; nothing of ours is used."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from seism_files import splitmix

VARIABLES = ("x", "y", "z", "px", "py", "pz", "id_1", "id_2")
Arrays = dict[str, Any]
COMPOUND = np.dtype([(name, "<i4" if name == "id_1" else "<f4") for name in VARIABLES])


@dataclass(frozen=True)
class Case:
    """A file: its attributes, and the elements of each dataset."""

    attributes: dict[str, Any]
    arrays: Arrays

    def write(self, path: Path, arrays: Arrays | None = None, **attributes: Any) -> None:
        with h5py.File(path, "w") as file:
            for name, values in (self.arrays if arrays is None else arrays).items():
                file[name] = values
            for name, item in (self.attributes | attributes).items():
                if item is not None:
                    file.attrs[name] = np.uint64(item) if isinstance(item, int) else item

    def copy(self) -> Arrays:
        return {name: values.copy() for name, values in self.arrays.items()}


def slab(fill: str = "position", axis: str = "pair") -> Case:
    long, short, ranks = 11, 3, 4  # blocks of 3: the last rank has 2; of the short one, 1 and none
    names = {"long-fast": "dset_1", "long-slow": "dset_2", "short-split": "dset_3"}
    arrays: Arrays = {}
    for number, one in enumerate(["long-fast", "long-slow"] if axis == "pair" else [axis]):
        shape = (short, long) if one == "long-fast" else (long, short)
        shared = 0 if one == "long-slow" else 1
        block = -(-shape[shared] // ranks)
        values = np.empty(shape, "<f8")
        for index, place in enumerate(itertools.product(*map(range, shape))):
            hashed = splitmix(number * long * short + index) >> 11
            values[place] = hashed * 2.0**-53 if fill == "position" else place[shared] // block
        arrays[names[one]] = values
    about = {"kernel": "slab", "schema": "tailrace-slab/1", "n1": long, "n2": short,
             "axis": axis, "fill": fill, "ranks": ranks}  # fmt: skip
    return Case(about, arrays)


def particle(pattern: str = "contig", dims: tuple[int, ...] = (6, 2)) -> Case:
    ranks, steps = 3, 2
    shape = (dims[0] * ranks, *dims[1:])
    arrays: Arrays = {}
    for step in range(steps):
        together = np.empty((*shape, 8), "<f4")
        compounds = np.empty(shape, COMPOUND)
        for variable, name in enumerate(VARIABLES):
            whole = variable == 6
            values = np.empty(shape, "<i4" if whole else "<f4")
            for index, place in enumerate(itertools.product(*map(range, shape))):
                number = splitmix((8 * step + variable) * int(np.prod(shape)) + index) >> 40
                own = place[0] % dims[0]
                if pattern == "strided" and own not in (0, 3):
                    number = 0
                values[place] = number if whole else number * 2.0**-24
            together[..., variable] = compounds[name] = values
            if pattern in ("contig", "strided"):
                arrays[f"Timestep_{step}/{name}"] = values
        if pattern == "interleaved":
            arrays[f"Timestep_{step}/particles"] = together
        if pattern == "compounds":
            arrays[f"Timestep_{step}/particles"] = compounds
    about = {"kernel": "particle", "schema": "tailrace-particle/1", "timesteps": steps,
             "num_dims": len(dims), "ranks": ranks,
             "file_pattern": "interleaved" if pattern == "compounds" else pattern}  # fmt: skip
    about |= {f"dim_{d + 1}": n for d, n in enumerate(dims)}
    if pattern == "strided":
        about |= {"stride_size": 3, "block_size": 1, "block_cnt": 2}
    return Case(about, arrays)
