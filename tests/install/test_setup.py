# SPDX-License-Identifier: Apache-2.0
"""The front door: goals that exist, life without root, a superbuild that was interrupted."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from conftest import SOURCE, call

GOALS = [
    "setup",
    "build",
    "demo",
    "test",
    "check-slice",
    "bench",
    "lint",
    "install",
    "bundle",
    "wheel",
]
SUPERBUILD = SOURCE / "cmake" / "deps" / "superbuild.sh"


def test_help_lists_every_goal() -> None:
    text = call("make", "-C", SOURCE, "help")
    assert all(re.search(rf"^  make {goal} ", text, re.MULTILINE) for goal in GOALS)


def fake(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)


def system_sh(
    folder: Path, *lists: str, path: str = os.environ["PATH"], **more: str
) -> subprocess.CompletedProcess[str]:
    """With the tools in folder/bin before all others, and an empty cache of libraries."""
    return subprocess.run(
        [SOURCE / "cmake/setup/system.sh", *(lists or ["packages-build.txt"])],
        env=os.environ
        | {"PATH": f"{folder / 'bin'}:{path}", "TAILRACE_CACHE": str(folder / "cache")}
        | more,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def system(folder: Path, user: int, *missing: str, cargo: str = "1.85.0") -> Path:
    """A Debian that lacks some packages; apt-get notes what it is asked for."""
    lacks = "|".join(f"*{package}" for package in missing) or "nothing"
    tools = folder / "bin"
    fake(tools, "id", f"echo {user}")
    fake(tools, "dpkg-query", f'case "$*" in {lacks}) exit 1;; *) printf installed;; esac')
    fake(tools, "cargo", f"echo cargo {cargo}")
    fake(tools, "apt-get", f'echo "$@" >>{folder}/called')
    return folder


def few(folder: Path, *more: str) -> str:
    """A PATH without compilers, sudo and what else may stand in."""
    (folder / "few").mkdir()
    for name in ("sh", "dirname", "sed", "tr", "head", "echo", "awk", "cat", *more):
        (folder / "few" / name).symlink_to(shutil.which(name) or "missing")
    return str(folder / "few")


def test_without_root_the_exact_command_is_printed(tmp_path: Path) -> None:
    done = system_sh(system(tmp_path, 1000, "libfmt-dev"), path=few(tmp_path))
    install = "apt-get install -y --no-install-recommends libfmt-dev"
    assert done.returncode == 1
    assert f"\n    su -c 'apt-get update && {install}'\n" in done.stderr
    fake(tmp_path / "bin", "sudo", "exit 1")
    done = system_sh(tmp_path, path=str(tmp_path / "few"))
    assert done.returncode == 1
    assert f"\n    sudo apt-get update && sudo {install}\n" in done.stderr
    assert not (tmp_path / "called").exists()


def test_without_root_only_what_is_needed_is_asked_for(tmp_path: Path) -> None:
    """A header, a command and a Python of the user's stand in for packages; some are optional."""
    (tmp_path / "include" / "fmt").mkdir(parents=True)
    (tmp_path / "include" / "fmt" / "core.h").touch()
    system(tmp_path, 1000, "libfmt-dev", "openmpi-bin", "python3-venv", "libpnetcdf-dev", "ccache")
    fake(tmp_path / "bin", "mpiexec", "exit 1")
    done = system_sh(tmp_path, CPATH=str(tmp_path / "include"), PYTHON=sys.executable)
    assert (done.returncode, done.stderr) == (0, "")


def test_root_gets_all_that_is_missing(tmp_path: Path) -> None:
    system(tmp_path, 0, "libfmt-dev", "ccache")
    assert system_sh(tmp_path).returncode == 0
    called = (tmp_path / "called").read_text().splitlines()
    assert called[-1].endswith("install -y --no-install-recommends libfmt-dev ccache")


def test_an_old_cargo_is_not_enough(tmp_path: Path) -> None:
    """Unless nothing has to be fetched: HDF5 is there."""
    system(tmp_path, 1000, cargo="1.65.0")
    for system_name, package in (
        ('ID=debian\nVERSION_ID="12"\n', "cargo-web"),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', "rustup"),
        ('ID=debian\nVERSION_ID="13"\n', "cargo"),
    ):
        (tmp_path / "os").write_text(system_name)
        done = system_sh(tmp_path, TAILRACE_OS_RELEASE=str(tmp_path / "os"))
        assert done.returncode == 1
        assert re.search(rf"no-install-recommends {package}'?$", done.stderr, re.MULTILINE)
    assert system_sh(tmp_path, HDF5_ROOT="/somewhere").returncode == 0


def test_apt_is_not_called_when_all_is_there(tmp_path: Path) -> None:
    assert system_sh(system(tmp_path, 0)).returncode == 0
    assert not (tmp_path / "called").exists()


def test_another_system_is_told_what_is_missing(tmp_path: Path) -> None:
    """Without dpkg: the names for dnf, and nothing is installed."""
    system(tmp_path, 1000)
    (tmp_path / "bin" / "dpkg-query").unlink()
    done = system_sh(tmp_path, path=few(tmp_path, "git", "make"))
    assert done.returncode == 0
    (line,) = re.findall("^    (dnf install .*)$", done.stderr, re.MULTILINE)
    assert {"gcc-c++", "openmpi-devel", "json-devel"} <= set(line.split())
    assert {"git", "make", "-", "ccache"}.isdisjoint(line.split())


def test_the_demo_wants_no_test_tools() -> None:
    """Neither of the system nor of Python."""
    for goals, tests in (("demo install bundle", False), ("test lint wheel", True)):
        text = call("make", "-n", "-C", SOURCE, *goals.split(), "PREFIX=/nowhere")
        assert ("packages-test.txt" in text, "python.sh test" in text) == (tests, tests), text
        assert ("docs.sh" in text) == tests, text
    build, test = (
        (SOURCE / f"cmake/setup/packages-{what}.txt").read_text() for what in ("build", "test")
    )
    for word in ("doctest-dev", "chromium", "slurmd", "gdb", "clang"):
        assert f"\n{word} |" in test and f"\n{word} |" not in build
    pinned = (SOURCE / "cmake/setup/requirements.txt").read_text()
    assert not re.search("^(pytest|ruff|mypy|selenium|xarray|scipy)==", pinned, re.MULTILINE)


def superbuild(cache: Path, tools: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "TAILRACE_CACHE": str(cache),
        "TAILRACE_TOOLS_BIN": str(tools),
    }
    return subprocess.run(
        [SUPERBUILD, *words],
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_an_interrupted_superbuild_does_not_look_complete(tmp_path: Path) -> None:
    tools, cache = tmp_path / "bin", tmp_path / "cache"
    fake(
        tools,
        "cargo",
        'case "$1" in --version) echo cargo 1.95.0;; *) kill -TERM $PPID; sleep 5;; esac',
    )
    fake(tools, "cmake", "echo cmake version 4.0.0")
    fake(tools, "ninja", "true")
    prefix = Path(superbuild(cache, tools, "--print-prefix").stdout.strip())
    prefix.mkdir(parents=True)
    (prefix / "left-over").touch()
    done = superbuild(cache, tools)
    assert done.returncode != 0
    assert done.stdout == ""
    assert not (prefix / ".complete").exists()
    assert not (prefix / "left-over").exists()
    assert not list(cache.glob("work-*"))


def test_a_failing_step_shows_its_log(tmp_path: Path) -> None:
    tools, cache = tmp_path / "bin", tmp_path / "cache"
    fake(
        tools,
        "cargo",
        'case "$1" in --version) echo cargo 1.95; exit;; esac; echo "checksum mismatch"; exit 9',
    )
    fake(tools, "cmake", "echo cmake version 4.0.0")
    fake(tools, "ninja", "true")
    done = superbuild(cache, tools)
    assert done.returncode == 1
    assert "checksum mismatch" in done.stderr
    assert "fetching sources failed" in done.stderr
    assert not list(cache.glob("work-*"))


def test_wheels_of_other_years_are_whole_or_not_there(tmp_path: Path) -> None:
    """Got once into the cache; where they cannot be had, tests go on without."""
    setup, cache = tmp_path / "cmake" / "setup", tmp_path / "cache"
    shutil.copytree(SOURCE / "cmake" / "setup" / "wheels", setup / "wheels")
    shutil.copy(SOURCE / "cmake" / "setup" / "wheels.sh", setup)
    tools = tmp_path / "build" / "venv" / "bin"
    tools.mkdir(parents=True)

    def run(pip: str) -> tuple[int, str]:
        # As pip, which is asked for a folder behind --target.
        lines = [
            '[ "$1" = -m ] || exit 0',
            'while [ "$1" != --target ]; do shift; done',
            f'touch "$2/half"; {pip}; touch "$2/whole"',
        ]
        fake(tools, "python", "\n".join(lines))
        done = subprocess.run(
            [setup / "wheels.sh"], env=os.environ | {"TAILRACE_CACHE": str(cache)}, text=True,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    years = sorted(file.stem for file in (setup / "wheels").glob("*.txt"))
    code, told = run("exit 1")  # it ends half-way
    assert (code, list(cache.iterdir())) == (0, [])
    assert f"the wheels of {years[0]} cannot be had; tests with them will not be run" in told
    code, told = run(":")
    assert (code, told.count("setup: wheels of")) == (0, len(years))
    assert sorted(folder.name for folder in (tmp_path / "build" / "wheels").iterdir()) == years
    assert len(list(cache.glob("wheels-*/whole"))) == len(list(cache.iterdir())) == len(years)
    assert all((tmp_path / "build" / "wheels" / year / "whole").is_file() for year in years)
    assert run("exit 1") == (0, "")


def test_hash_of_the_inputs_names_the_prefix(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    fake(tools, "ompi_info", "echo another MPI")
    usual = superbuild(tmp_path, tmp_path / "none", "--print-prefix").stdout
    other = superbuild(tmp_path, tools, "--print-prefix").stdout
    assert usual != other
    assert Path(usual.strip()).parent == tmp_path
