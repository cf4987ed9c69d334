# SPDX-License-Identifier: Apache-2.0
"""Attributes and the classic compound, read by h5py, which shares nothing with src/formats."""

import os
import shlex
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
MPIEXEC = shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"])


@pytest.fixture(scope="module", params=[1, 4], ids=["np1", "np4"])
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("attributes") / "a.h5"
    command = [*MPIEXEC, "-n", str(request.param), str(BUILD / "tests/bin/hdf5_attributes_writer")]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stdout + done.stderr
    with h5py.File(path, "r") as handle:
        yield handle


@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [
        ("i32", "<i4", -5),
        ("u32", "<u4", 4000000000),
        ("i64", "<i8", -5000000000),
        ("u64", "<u8", 2**64 - 1),
        ("f64", "<f8", 0.1),
    ],
)
def test_scalars(file, name, dtype, value):
    assert file.attrs[name] == value
    assert file.attrs.get_id(name).dtype == np.dtype(dtype)
    assert file.attrs.get_id(name).shape == ()


def test_texts(file):
    assert file.attrs["text"] == "blau und grün"
    assert file.attrs["empty"] == ""
    assert list(file.attrs["texts"]) == ["1", "", "three words here"]
    assert len(file.attrs["long"]) == 5000
    kind = file.attrs.get_id("text").get_type()
    assert kind.is_variable_str()
    assert kind.get_cset() == h5py.h5t.CSET_UTF8
    plain = file.attrs.get_id("plain").get_type()
    assert file.attrs["plain"] == b"C text"
    assert (plain.is_variable_str(), plain.get_size()) == (False, 7)


def test_arrays(file):
    assert file.attrs["i64s"].tolist() == [-1, 2]
    assert file.attrs["i32s"].tolist() == [-1, 2]
    assert file.attrs["i32s"].dtype == np.dtype("<i4")
    assert file.attrs["u64s"].tolist() == [1, 2, 3]
    assert file.attrs["u64s"].dtype == np.dtype("<u8")
    assert file.attrs["f64s"].tolist() == [0.5, -1.5]
    assert file.attrs["none"].shape == (0,)


def test_other_objects(file):
    assert file["/group/d"].attrs["units"] == "m s-1"
    assert file["/group"].attrs["of_group"] == 7
    assert file["/alone/inner"].attrs["of_empty_group"] == 8
    assert list(file["/alone/inner"]) == []
    assert set(file.attrs) == {
        *("i32", "u32", "i64", "u64", "f64", "text", "empty", "i64s", "u64s", "f64s", "texts"),
        *("i32s", "none", "long", "simulation_attributes", "plain"),
    }


def test_classic_compound(file):
    kind = file.attrs.get_id("simulation_attributes").get_type()
    assert isinstance(kind, h5py.h5t.TypeCompoundID)
    assert kind.committed()
    assert kind.get_size() == 184
    named = h5py.h5t.open(file.id, b"/seismCoreAttributes")
    assert kind.equal(named)
    offsets = {
        kind.get_member_name(i).decode(): kind.get_member_offset(i)
        for i in range(kind.get_nmembers())
    }
    assert offsets == {
        "name": 0,
        "processor_dims": 8,
        "chunk_dims": 32,
        "domain_dims": 56,
        "simulation_time": 80,
        "n_nodes": 84,
        "collective_write": 92,
        "use_function_lib": 120,
        "use_function_argv": 144,
    }
    value = file.attrs["simulation_attributes"]
    assert value["name"] in (b"my_attr", "my_attr")
    assert value["processor_dims"].tolist() == [2, 2, 1]
    assert value["domain_dims"].tolist() == [8, 10, 12]
    assert value["simulation_time"] == 3
    assert value["collective_write"] == 1
    assert value["use_function_argv"] in (b"1 1 1 1", "1 1 1 1")
