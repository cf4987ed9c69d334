# SPDX-License-Identifier: Apache-2.0
"""What a run may write to, as the system sees to it. Landlock has to be there."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from mpi_programs import BUILD, MPIEXEC

from tailrace.sandbox import confinement, landlock
from tailrace.sandbox.confinement import Confinement
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.supervision import Job, supervised
from tailrace.sandbox.survey import survey
from tailrace.tune import session, touched_files
from tailrace.tune.measurement import Measured, Runner, Setting
from tailrace.tune.request import Asked

PROGRAM = BUILD / "tests/bin/tune_program"

TRIES_ALL = """
import json, mmap, os, sys
far = sys.argv[1]
def tried(change, *given):
    try:
        change(*given)
    except OSError as error:
        return error.errno
    return 0
def mapped(name):
    with open(name, "r+b") as file:
        mmap.mmap(file.fileno(), 0)[0:1] = b"X"
def at(name):
    return os.path.join(far, name)
open("mine", "w").close()
json.dump({
    "append": tried(open, at("file"), "a"),
    "map": tried(mapped, at("file")),
    "empty": tried(open, at("file"), "w"),
    "new": tried(open, at("new"), "w"),
    "truncate": tried(os.truncate, at("file"), 0),
    "remove": tried(os.remove, at("file")),
    "rename": tried(os.rename, at("file"), at("other")),
    "rename a folder": tried(os.rename, at("folder"), at("other")),
    "remove a folder": tried(os.rmdir, at("folder")),
    "make a folder": tried(os.mkdir, at("new")),
    "move in": tried(os.rename, "mine", at("mine")),
    "move out": tried(os.rename, at("file"), "file"),
    "exchange by a link": tried(os.symlink, "x", at("link")),
    "hard link": tried(os.link, at("file"), at("hard")),
    "pipe": tried(os.mkfifo, at("pipe")),
    "beside": tried(open, "../beside", "w"),
    "read": tried(open, at("file")),
}, open("tried.json", "w"))
"""


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A folder of the user's that is not the program's."""
    folder = tmp_path / "far"
    (folder / "folder").mkdir(parents=True)
    (folder / "file").write_text("of the user")
    return folder


def ran(folder: Path, text: str, *words: str | Path, confined: Confinement) -> Measured:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "script.py").write_text(text)
    return measured([sys.executable, "-S", "script.py", *map(str, words)], home, confined)


def measured(words: list[str], home: Path, confined: Confinement) -> Measured:
    root = home.parent / "root"
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    setting = Setting(words, home, root, confined=confined)
    found = Runner(setting, ground).run("run", None, 60, keep=True)
    said = (root / "prints/run/stderr").read_text()
    assert found.outcome.code == 0, said
    return found


def confined_to(folder: Path, *allowed: Path) -> Confinement:
    return Confinement([folder / "home"], allowed, root=folder / "root")


def tried(found: Measured) -> dict[str, int]:
    assert found.result is not None
    codes: dict[str, int] = json.loads(found.result.files["tried.json"].read_text())
    return codes


def test_nothing_is_changed_elsewhere_in_any_way(tmp_path: Path, far: Path) -> None:
    confined = confined_to(tmp_path)
    codes = tried(ran(tmp_path, TRIES_ALL, far, confined=confined))
    confined.close()
    assert codes.pop("read") == 0
    assert all(codes.values()), codes
    assert sorted(path.name for path in far.iterdir()) == ["file", "folder"]
    assert (far / "file").read_text() == "of the user"
    assert not (tmp_path / "root/run/beside").exists()


def test_a_folder_that_is_allowed_can_be_written(tmp_path: Path, far: Path) -> None:
    confined = confined_to(tmp_path, far)
    codes = tried(ran(tmp_path, TRIES_ALL, far, confined=confined))
    confined.close()
    assert codes["append"] == codes["new"] == codes["map"] == codes["move in"] == 0
    assert codes["beside"] != 0


USES_WHAT_PROGRAMS_NEED = """
import multiprocessing.shared_memory, os, subprocess, tempfile
assert tempfile.gettempdir() == os.environ["TMPDIR"]
assert os.listdir(os.environ["TMPDIR"]) == [], "left by another run"
with tempfile.NamedTemporaryFile(delete=False) as file:
    file.write(b"x")
os.mkdir("deep"); open("deep/a", "w").close(); os.rename("deep/a", "a")  # from folder to folder
block = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
block.close(); block.unlink()
open("/dev/null", "w").write("x")
subprocess.run(["sh", "-c", "echo said > /dev/stderr; echo $PWD; touch from_a_child"], check=True)
assert os.environ["PWD"] == os.getcwd()
"""


def test_what_programs_need_goes_on(tmp_path: Path) -> None:
    confined = confined_to(tmp_path)
    for _ in range(2):
        found = ran(tmp_path, USES_WHAT_PROGRAMS_NEED, confined=confined)
        assert found.result is not None
        names = {name for name in found.result.files if "close" not in name}
        assert names == {"a", "from_a_child"}
    assert len(str(confined.temporary)) < 60 or "TMPDIR" in os.environ
    confined.close()
    assert not confined.temporary.exists()


def test_ranks_of_a_launcher_are_confined_too(tmp_path: Path, far: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "script.py").write_text(
        "import os\nrank = os.environ.get('OMPI_COMM_WORLD_RANK') or os.environ['PMI_RANK']\n"
        f"open(rank, 'w').close()\ntry:\n    open({str(far / 'new')!r}, 'w')\n"
        "except OSError:\n    open(rank + '-refused', 'w').close()\n"
    )
    confined = confined_to(tmp_path)
    words = [*MPIEXEC, "-n", "2", sys.executable, "-S", "script.py"]
    found = measured(words, home, confined)
    assert found.result is not None
    assert sorted(found.result.files) == ["0", "0-refused", "1", "1-refused"]
    assert not (far / "new").exists()
    found = measured([*MPIEXEC, "-n", "2", str(PROGRAM), "out.h5", "ranks"], home, confined)
    confined.close()
    assert found.result is not None
    assert "out.h5" in found.result.files


def test_it_costs_next_to_nothing(tmp_path: Path) -> None:
    folders = [tmp_path] * 20
    began = time.monotonic()
    for _ in range(10):
        with landlock.confining(folders):
            pass
    assert (time.monotonic() - began) / 10 < 0.005


def test_a_program_that_cannot_be_confined_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "_restrict_self", 100_000)  # no call of any system
    words = [sys.executable, "-S", "-c", "open('made', 'w')"]
    with pytest.raises(Exception, match="was not started"):
        supervised(Job(words, {}, tmp_path, tmp_path / "prints", writable=[tmp_path]))
    assert not (tmp_path / "made").exists()


def opened(folder: Path, temporary: Path) -> bool:
    confined = Confinement(
        [folder / "home"], root=folder / "root", given={"TMPDIR": str(temporary)}
    )
    confined.close()
    return confined.is_open(temporary / "any")


def test_a_folder_for_temporary_files_is_open_only_where_nothing_is_yours(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    (temporary / "empty").mkdir(parents=True)
    assert opened(tmp_path, temporary)
    (temporary / "empty" / "data.h5").touch()
    assert not opened(tmp_path, temporary)
    assert not opened(tmp_path, tmp_path)  # the working folder is in it


def test_devices_are_open_but_for_a_working_folder_in_memory() -> None:
    home = Path("/dev/shm/somebody/home")
    given: dict[str, str] = {}
    found = list(confinement._common([home], given))
    assert Path("/dev/null") in found
    assert not any(home.is_relative_to(folder) for folder in found)
    assert Path("/dev") in list(confinement._common([Path("/home/me")], given))


def test_on_several_nodes_all_see_the_folder_for_temporary_files(tmp_path: Path) -> None:
    given = {"SLURM_JOB_NUM_NODES": "2"}
    confined = Confinement([], root=tmp_path / "root", given=given)
    assert confined.temporary.parent == tmp_path / "root"


def test_the_folder_for_temporary_files_is_the_same_when_a_tune_goes_on(tmp_path: Path) -> None:
    first = Confinement([], root=tmp_path)
    again = Confinement([], root=tmp_path, temporary=first.temporary)
    assert again.temporary == first.temporary
    again.close()
    # Also after an interrupt, which has removed it: some programs print its path.
    later = Confinement([], root=tmp_path, temporary=first.temporary)
    assert later.temporary == first.temporary
    assert later.temporary.stat().st_mode & 0o777 == 0o700
    later.close()
    later.temporary.touch()  # by somebody else
    other = Confinement([], root=tmp_path, temporary=first.temporary)
    assert other.temporary != first.temporary
    later.temporary.unlink()
    other.close()


def test_ranks_that_are_not_reached_are_told(tmp_path: Path) -> None:
    def beyond(command: list[str], **given: str) -> str:
        confined = Confinement([], root=tmp_path, command=command, given=given)
        confined.close()
        return "" if confined.is_whole else confined.beyond

    assert beyond(["/usr/bin/srun", "-n", "2", "program"]).startswith("ranks that srun has its own")
    assert beyond(["mpiexec", "program"], SLURM_NNODES="4") == "ranks on other nodes"
    assert beyond(["mpiexec", "program"]) == beyond(["program"], SLURM_NNODES="4") == ""


def test_ranks_get_their_shared_memory_also_where_the_working_folder_lies_in_it(
    tmp_path: Path,
) -> None:
    """Open MPI ended every run with "out of resource" else."""
    home = Path("/dev/shm/of somebody/home")
    for command, is_open in ((["mpiexec", "-n", "2", "program"], True), (["program"], False)):
        confined = Confinement([home], root=tmp_path, command=command)
        confined.close()
        assert confined.is_open(Path("/dev/shm/segment")) == is_open
        assert confined.is_whole != is_open
        assert ("files in /dev/shm" in confined.beyond) == is_open


def test_a_command_that_names_a_device_is_confined_like_any_other(tmp_path: Path) -> None:
    confined = Confinement([Path("/dev/null")], root=tmp_path)
    confined.close()
    assert confined.is_open(Path("/dev/shm/segment"))
    asked = Asked(
        ["program", "--log=/dev/null", "/dev/zero"], tmp_path, tmp_path / "o", tmp_path / "s"
    )
    (tmp_path / "state").mkdir()
    confined = session._confined(asked, Ledger(tmp_path / "state"), lambda _text: None)
    confined.close()
    assert confined.is_open(Path("/dev/null"))
    assert confined.is_open(Path("/dev/shm/segment"))


def test_a_tune_with_other_folders_that_are_allowed_is_another_one(tmp_path: Path) -> None:
    asked = Asked(["program"], tmp_path, tmp_path / "out", tmp_path / "scratch")
    other = replace(asked, allow_outside=(tmp_path / "far",))
    assert asked.as_fact() != other.as_fact()


def test_every_layer_counts_its_opens_under_its_own_names(tmp_path: Path) -> None:
    seen: list[dict[str, object]] = [
        {"hdf5": {"opens": 1}}, {"pnetcdf": {"creates": 2}}, {"mpiio": {"collective_opens": 2}},
        {"mpiio": {"independent_opens": 1}}, {"posix": {"opens": 1}}, {"stdio": {"opens": 1}},
        {"datasets": [{"name": "/x"}]},
    ]  # fmt: skip
    assert all(touched_files.was_opened({"path": "x", **one}) for one in seen)
    assert not touched_files.was_opened({"path": "x", "posix": {"opens": 0, "failed_opens": 3}})


def test_what_a_confined_run_was_seen_to_write_is_told_all_the_same(tmp_path: Path) -> None:
    """A daemon may have done it for it; a file that is only younger is somebody else's."""
    written, read = tmp_path / "written", tmp_path / "read"
    written.touch()
    read.touch()
    files = [
        {"path": str(written), "posix": {"opens": 1, "writes": {"bytes": 1}}},
        {"path": str(read), "posix": {"opens": 1}},
    ]
    assert touched_files.outside({"files": files}, [], 0, lambda _path: False) == [str(written)]
    assert len(touched_files.outside({"files": files}, [], 0, lambda _path: True)) == 2
