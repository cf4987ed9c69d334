# SPDX-License-Identifier: Apache-2.0
"""Filters that come as plugins: the programs find them by HDF5_PLUGIN_PATH, and a reader with an
HDF5 of its own (h5py) unpacks what they packed."""

import os
import re

import h5py
import hdf5plugin
import numpy as np
import pytest
from seism_tool import BUILD, good, position_values, run, seen, subprocess

GRID, DOMAIN, STEPS = (2, 1, 1), (16, 8, 8), 2
RUN = ["processor=2x1x1", "domain=16x8x8", "chunk=8x8x8", "time=2", "fill=position",
       "collective_write"]  # fmt: skip
PLUGINS = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}

# What is asked for, the filter's number, how far a value below 1 may be off.
FILTERS = {
    "zfp": (["zfp=1"], 32013, 1e-6),
    "zfp without loss": (["filter=32013 5"], 32013, 0.0),
    "zstd": (["filter=32015 3"], 32015, 0.0),
    "lz4": (["filter=32004"], 32004, 0.0),
}


def stored(path):
    with h5py.File(path) as file:
        data = file["chunked"]
        filters = data.id.get_create_plist()
        numbers = [filters.get_filter(at)[0] for at in range(filters.get_nfilters())]
        return data[...], numbers


@pytest.mark.parametrize("name", FILTERS)
def test_a_plugin_packs_and_another_library_unpacks(tmp_path, name):
    words, number, error = FILTERS[name]
    result = good(tmp_path, 2, *RUN, *words, env=PLUGINS)
    values, filters = stored(tmp_path / "seism-test.h5")
    assert filters == [number]
    expected = position_values(GRID, DOMAIN, STEPS)
    assert np.abs(values.astype("f8") - expected).max() <= error
    assert re.search(rf"filters={number}\b", result.out)
    verify = [BUILD / "bin/tailrace", "verify", "seism-test.h5"]
    tolerance = ["--atol", str(error)] if error else []
    done = subprocess.run(
        [*verify, *tolerance], cwd=tmp_path, env={**os.environ, **PLUGINS},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("within" in done.stdout) == bool(error)
    unable = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True)
    assert unable.returncode == 4 and "HDF5_PLUGIN_PATH" in unable.stderr


def test_an_error_beyond_the_tolerance_is_found(tmp_path):
    good(tmp_path, 2, *RUN, "filter=32015", env=PLUGINS)
    with h5py.File(tmp_path / "seism-test.h5", "r+") as file:
        file["chunked"][1, 3, 4, 5] += 1e-3
    verify = [BUILD / "bin/tailrace", "verify", "seism-test.h5", "--atol"]
    for tolerance, code in (("1e-4", 3), ("1e-2", 0)):
        done = subprocess.run(
            [*verify, tolerance], cwd=tmp_path, env={**os.environ, **PLUGINS}, capture_output=True
        )
        assert done.returncode == code, done.stdout


@pytest.mark.parametrize("words", [["zfp=1"], ["filter=32015 3"], ["zstd=3", "encode=ranks"]])
def test_without_the_plugin_the_capability_is_missing(tmp_path, words):
    result = run(tmp_path, 2, *RUN, *words)
    assert result.codes == [4, 4], result.err
    assert len(result.errors) == 1 and "HDF5_PLUGIN_PATH" in result.err
    assert seen(tmp_path) == []
