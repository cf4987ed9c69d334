# SPDX-License-Identifier: Apache-2.0
"""What fails behind the writes of tailrace-amr: the older output stays, and nothing of the new
one is left."""

import shutil

import pytest
from seism_tool import BUILD, good, run, seen

AMR = BUILD / "bin/tailrace-amr"
RANKS = 4
MESH = ["ncells=24", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=1"]
LAYOUTS = {
    "pnetcdf": ["format=pnetcdf", "filename=plt00000.nc"],
    "hdf5": ["format=hdf5", "filename=plt00000.nc"],
    "netcdf4": ["format=netcdf4", "filename=plt00000.nc"],
    "native": ["format=native", "outputs=native particles"],
}
FAULTS = {
    "fsync": "op=fsync,path=*/plt00000*,errno=EIO",
    "close": "op=close,path=*/plt00000*,errno=EIO",
    "rename": "op=rename,path=*/plt00000*,errno=EIO",
}


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A plot file of before, in both layouts."""
    folder = tmp_path_factory.mktemp("older")
    good(folder, 1, "ncells=8", "max_grid_size=8", "nlevs=1", "ncomp=1", "nppc=0", program=AMR)
    (folder / "results.jsonl").unlink()
    return folder


def old_outputs(older, folder):
    shutil.copytree(older, folder, dirs_exist_ok=True)
    return contents(folder)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith((".code", "results"))
    }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_disk(older, tmp_path, layout, fault):
    before = old_outputs(older, tmp_path)
    words = [*MESH, *LAYOUTS[layout]]
    if layout != "native":
        words.append("outputs=shared")
    result = run(tmp_path, RANKS, *words, program=AMR, env={"TAILRACE_FAULT": FAULTS[fault]})
    assert result.code == 1 and result.codes == [1] * RANKS, result.err + result.out
    assert len(result.errors) == 1 and "plt00000" in result.err, result.err
    assert "Traceback" not in result.err and "HDF5-DIAG" not in result.err
    assert contents(tmp_path) == before
    assert [name for name in seen(tmp_path) if "part" in name or "lock" in name] == []
    assert result.records[-1]["status"] == "failed"
