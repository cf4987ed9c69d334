# SPDX-License-Identifier: Apache-2.0
"""The front door: goals that exist, life without root, a superbuild that was interrupted."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from conftest import SOURCE, call

GOALS = ["setup", "build", "demo", "test", "check-slice", "bench", "lint", "install", "bundle"]
SUPERBUILD = SOURCE / "cmake" / "deps" / "superbuild.sh"


def test_help_lists_every_goal() -> None:
    text = call("make", "-C", SOURCE, "help")
    assert all(re.search(rf"^  make {goal} ", text, re.MULTILINE) for goal in GOALS)


def fake(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)


def system_sh(tools: Path, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SOURCE / "cmake/setup/system.sh"],
        env=os.environ | {"PATH": f"{tools}:{path}"},
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_without_root_the_exact_command_is_printed(tmp_path: Path) -> None:
    fake(tmp_path / "bin", "id", "echo 1000")
    fake(
        tmp_path / "bin",
        "dpkg-query",
        'case "$*" in *libfmt-dev*) exit 1;; *) printf installed;; esac',
    )
    fake(tmp_path / "bin", "apt-get", "touch called; exit 1")
    # Without sudo, which a bare system does not have; the rest of what the script calls.
    (tmp_path / "few").mkdir()
    for name in ("sh", "dirname", "sed", "xargs", "echo", "cargo", "awk"):
        if found := shutil.which(name):
            (tmp_path / "few" / name).symlink_to(found)
    done = system_sh(tmp_path / "bin", str(tmp_path / "few"))
    install = "apt-get install -y --no-install-recommends libfmt-dev( cargo-web)?"
    assert done.returncode == 1
    assert re.search(f"^ +su -c 'apt-get update && {install}'$", done.stderr, re.MULTILINE)
    fake(tmp_path / "bin", "sudo", "exit 1")
    done = system_sh(tmp_path / "bin")
    assert done.returncode == 1
    assert re.search(f"^ +sudo apt-get update && sudo {install}$", done.stderr, re.MULTILINE)
    assert not (tmp_path / "called").exists()


def test_an_old_cargo_is_not_enough(tmp_path: Path) -> None:
    fake(tmp_path / "bin", "id", "echo 1000")
    fake(tmp_path / "bin", "dpkg-query", "printf installed")
    fake(tmp_path / "bin", "cargo", "echo cargo 1.65.0")
    done = system_sh(tmp_path / "bin")
    assert done.returncode == 1
    assert "no-install-recommends cargo-web" in done.stderr


def test_apt_is_not_called_when_all_is_there(tmp_path: Path) -> None:
    fake(tmp_path / "bin", "dpkg-query", "printf installed")
    fake(tmp_path / "bin", "cargo", "echo cargo 1.85.0")
    fake(tmp_path / "bin", "apt-get", f"touch {tmp_path}/called")
    assert system_sh(tmp_path / "bin").returncode == 0
    assert not (tmp_path / "called").exists()


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
