# SPDX-License-Identifier: Apache-2.0
"""The bundle installs without a network and runs from where it was put; MPI is the machine's."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, LAUNCHER, SOURCE, call
from own_namespace import unshare


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    call(SOURCE / "cmake/setup/bundle.sh", BUILD, folder)
    archive = next(folder.glob("tailrace-*.tar.gz"))
    call("tar", "-xzf", archive, "-C", folder)  # as a user does
    unpacked = next(path for path in folder.glob("tailrace-*") if path.is_dir())
    text = call(*unshare("-n"), unpacked / "install.sh", "--prefix", folder / "first")
    assert "module use" in text
    shutil.rmtree(unpacked)
    moved = folder / "moved"
    (folder / "first").rename(moved)
    return moved


@pytest.fixture
def bare() -> dict[str, str]:
    """A shell that knows nothing of the build tree, the superbuild or the private environment."""
    keep = {name: value for name, value in os.environ.items() if name.startswith("OMPI_")}
    return keep | {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C.UTF-8",
    }


def test_runs_and_verifies_offline(installed: Path, bare: dict[str, str], tmp_path: Path) -> None:
    # Open MPI's launcher wants a network interface of its own, so that only the rest goes without.
    call(
        *LAUNCHER,
        "-n",
        2,
        installed / "bin" / "seism-core-slice",
        "processor=2x1x1",
        "domain=8x8x8",
        "time=2",
        "fill=position",
        "filename=a.h5",
        cwd=tmp_path,
        env=bare,
    )
    call(*unshare("-n"), installed / "bin" / "tailrace", "verify", "a.h5", cwd=tmp_path, env=bare)


def test_a_script_with_pytables(installed: Path, bare: dict[str, str], tmp_path: Path) -> None:
    """The connector is there: a script is recorded and tuned."""
    assert (installed / "lib/tailrace/hdf5/libtailrace_vol.so").is_file()

    def under(*command: str) -> str:
        script = SOURCE / "tests" / "hooks" / "wheels" / "with_tables.py"
        done = subprocess.run(
            [installed / "bin" / "tailrace", *command, "--json", "--", sys.executable, script],
            cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert done.returncode == 3 and "exit code 3" in done.stderr, done.stderr
        return done.stdout

    under("profile")
    profile = json.loads((tmp_path / "profile.json").read_text())
    (file,) = [file for file in profile["files"] if Path(file["path"]).name == "all.h5"]
    (packed,) = [one for one in file["datasets"] if one["path"] == "/packed"]
    assert packed["writes"]["calls"] > 0

    because = {"rule": "3", "text": "t", "effect": "e", "source": "s"}
    block = {"key": "meta_block_bytes", "value": 1 << 16, "class": "safe", "because": because}
    entry = {"file": "all.h5", "dataset": "", "when": "any", "settings": [block]}
    plan = {"schema": "tailrace-plan/1", "origin": {"version": "0"}, "entries": [entry]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (line,) = json.loads(under("apply", "plan.json"))["lines"]
    assert (line["setting"], line["became"]) == ("meta_block_bytes", "applied")


def test_libraries_are_private_but_for_mpi(installed: Path, bare: dict[str, str]) -> None:
    text = call("ldd", installed / "bin" / "tailrace-seism", env=bare)
    assert "not found" not in text
    home = {line.split()[0]: line.split()[2] for line in text.splitlines() if "=>" in line}
    ours = next(path for name, path in home.items() if name.startswith("libhdf5.so"))
    assert Path(ours).resolve().is_relative_to(installed.resolve())
    mpi = next(path for name, path in home.items() if name.startswith("libmpi.so"))
    assert not Path(mpi).resolve().is_relative_to(installed.resolve())


def test_no_path_of_the_build_is_left_in_the_programs(installed: Path) -> None:
    for file in [*installed.glob("bin/*"), *installed.glob("lib/*.so*")]:
        if file.is_symlink() or not file.read_bytes().startswith(b"\x7fELF"):
            continue
        dynamic = call("readelf", "-d", file)
        paths = [line for line in dynamic.splitlines() if "RUNPATH" in line or "RPATH" in line]
        assert all(
            "/"
            not in path.split("[")[1]
            .replace("$ORIGIN/..", "")
            .replace("/lib", "")
            .replace("/tailrace-deps", "")
            for path in paths
        ), (file, paths)


def test_without_a_prefix_it_says_how(tmp_path: Path) -> None:
    done = subprocess.run(
        [SOURCE / "cmake/setup/install_bundle.sh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--prefix DIR" in done.stderr
