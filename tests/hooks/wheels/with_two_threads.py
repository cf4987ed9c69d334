# SPDX-License-Identifier: Apache-2.0
"""h5py and netCDF4, each with an HDF5 of its own, in two threads that write, rename, copy, open
again and look, all the time; netCDF4 does not hold Python's lock meanwhile."""

from __future__ import annotations

import threading
import traceback

import h5py
import netCDF4
import numpy as np

ROUNDS, FILES, DATASETS, ELEMENTS, CHUNK = 40, 4, 10, 1000, 100
begin = threading.Barrier(2)
failed: list[str] = []


def values(round: int, number: int) -> np.ndarray:
    return np.arange(ELEMENTS, dtype="f8") * 3 + 1000 * round + number


def with_h5py(round: int) -> None:
    name = f"a{round % FILES}.h5"
    with h5py.File(name, "w") as file:
        for number in range(DATASETS):
            file.create_dataset(f"group/{number}", data=values(round, number))
        file.move("group/0", "other/moved")
        file.copy("group/1", file, "copied")
        file.copy(file["group"], file, "all")
        del file["group/2"]
        for number in range(DATASETS):
            file.create_dataset(f"chunked/{number}", data=values(round, number), chunks=(CHUNK,))
    with h5py.File(name) as file:
        assert (file["other/moved"][:] == values(round, 0)).all()
        assert (file["copied"][:] == values(round, 1)).all()
        for number in range(3, DATASETS):
            for group in ("group", "all"):
                found = file[group][str(number)]
                assert (found[:] == values(round, number)).all()
    rewritten = slice(CHUNK, 2 * CHUNK)
    with h5py.File(name, "r+") as file:
        for number in range(DATASETS):
            # A chunk of the program's shape, though the file has the plan's: the connector has to
            # know it still, or the write fails.
            chunk = -values(round, number)[rewritten]
            file[f"chunked/{number}"].id.write_direct_chunk((CHUNK,), chunk.tobytes())
    with h5py.File(name) as file:
        for number in range(DATASETS):
            expected = values(round, number)
            expected[rewritten] *= -1
            assert (file[f"chunked/{number}"][:] == expected).all()


def with_netcdf4(round: int) -> None:
    name = f"b{round % FILES}.nc"
    with netCDF4.Dataset(name, "w") as file:
        file.createDimension("x", ELEMENTS)
        for number in range(DATASETS):
            file.createVariable(f"v{number}", "f8", ("x",))[:] = values(round, number)
        file.renameVariable("v0", "renamed")
    with netCDF4.Dataset(name) as file:
        assert (file["renamed"][:] == values(round, 0)).all()
        for number in range(1, DATASETS):
            assert (file[f"v{number}"][:] == values(round, number)).all()


def work(one: object) -> None:
    assert callable(one)
    begin.wait()
    try:
        for round in range(ROUNDS):
            one(round)
    except BaseException:
        failed.append(traceback.format_exc())


threads = [threading.Thread(target=work, args=(one,)) for one in (with_h5py, with_netcdf4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, "\n".join(failed)
print("written and read", 2 * ROUNDS * DATASETS)
