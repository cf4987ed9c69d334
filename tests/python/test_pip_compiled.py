# SPDX-License-Identifier: Apache-2.0
"""`pip install .` with a C++ compiler and without MPI and HDF5: scripts are recorded and tuned."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pip_place import COMPILER, Place

pytestmark = [pytest.mark.install, pytest.mark.timeout(1150)]

SCRIPT = """
import h5py, numpy as np
with h5py.File("a.h5", "w") as f:
    x = f.create_dataset("x", (6, 100), dtype="f8", chunks=(2, 100), compression="gzip")
    for n in range(6):
        x[n] = np.full(100, n)
with h5py.File("a.h5") as f:
    assert f["x"][1:3].sum() == 300
with open("note.txt", "wb") as note:
    note.write(bytes(1000))
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """It takes minutes of a core if the compiler cache is empty."""
    folder = Path(os.environ["TAILRACE_BUILD_DIR"], "tests", "pip_compiled")
    made = Place(folder, (*COMPILER, "ccache"), 1100)
    made.install_cached()
    yield made
    shutil.rmtree(folder)


@pytest.fixture
def folder(place: Place, tmp_path: Path) -> Path:
    """With the script in it, and its profile."""
    (tmp_path / "script.py").write_text(SCRIPT)
    words = ("profile", "-o", "profile.json", "--", "python", "script.py")
    run = place.call("tailrace", *words, folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    return tmp_path


def test_the_helper_is_compiled_and_mpi_is_not_here(place: Place) -> None:
    for name in ("mpicc", "mpiexec", "mpirun", "h5cc", "h5pcc", "nc-config", "pnetcdf-config"):
        assert shutil.which(name, path=place.environment["PATH"]) is None
    run = place.call("python", "-c", "import tailrace.native as n; print(n.core().__name__)")
    assert run.stdout == "tailrace._core\n", run.stdout + run.stderr
    found = place.call("tailrace", "doctor").stdout
    assert "no MPI is here" in found and "present (compiled helper)" in found


def test_the_profile_of_a_script(folder: Path) -> None:
    profile = json.loads((folder / "profile.json").read_text())
    (process,) = profile["run"]["processes"]
    assert process["hdf5_version"] and "mpi_version" not in process
    files = {Path(file["path"]).name: file for file in profile["files"]}
    assert set(files) == {"a.h5", "note.txt"}
    hdf5 = files["a.h5"]["hdf5"]
    assert (hdf5["opens"], hdf5["creates"], hdf5["driver"]) == (2, 1, "sec2")
    (x,) = files["a.h5"]["datasets"]
    assert (x["path"], x["dims"], x["chunk"]) == ("/x", [6, 100], [2, 100])
    assert (x["writes"]["calls"], x["writes"]["bytes"]) == (6, 4800)
    assert x["writes"]["coverage"]["full"] is True
    assert (x["reads"]["calls"], x["reads"]["bytes"]) == (1, 1600)
    note = files["note.txt"]["posix"]["writes"]
    assert (note["calls"], note["bytes"]) == (1, 1000)


def test_what_follows_from_it(place: Place, folder: Path) -> None:
    """Intents, advice, and a setting that comes to the script."""
    intents = place.call("tailrace", "intents", "profile.json", folder=folder)
    assert intents.returncode == 0 and "read-after-write" in intents.stdout, intents.stderr
    advice = place.call("tailrace", "advise", "profile.json", "-o", "plan.json", folder=folder)
    assert advice.returncode == 0, advice.stdout + advice.stderr
    plan = json.loads((folder / "plan.json").read_text())
    because = {"rule": "3", "text": "t", "effect": "e", "source": "s"}
    block = {"key": "meta_block_bytes", "value": 1 << 16, "class": "safe", "because": because}
    del plan["hash"]
    plan["entries"] = [{"file": "a.h5", "dataset": "", "when": "any", "settings": [block]}]
    (folder / "plan.json").write_text(json.dumps(plan))
    words = ("apply", "plan.json", "--json", "--", "python", "script.py")
    applied = place.call("tailrace", *words, folder=folder)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    (line,) = json.loads(applied.stdout)["lines"]
    assert (line["setting"], line["became"]) == ("meta_block_bytes", "applied")
