# SPDX-License-Identifier: Apache-2.0
"""`make install` over an installation that is there: what it refuses, keeps, replaces and notes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, SOURCE, call


def installed(prefix: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SOURCE / "cmake/setup/install.sh", BUILD, prefix],
        env=os.environ | more, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_destdir_is_refused(tmp_path: Path) -> None:
    """Before anything is made, with the words that do the same."""
    done = installed(tmp_path / "usr", DESTDIR=f"{tmp_path}/stage")
    assert done.returncode == 2
    assert f"call make install PREFIX={tmp_path}/stage{tmp_path}/usr\n" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture
def earlier(prefix: Path, tmp_path: Path) -> Path:
    """An installation, with a package of another release."""
    copy = tmp_path / "earlier"
    shutil.copytree(prefix, copy, symlinks=True)
    (copy / "lib/tailrace/python/of_before.py").write_text("here = True\n")
    return copy


def test_earlier_packages_stay_until_the_new_ones_are_there(
    earlier: Path, clean_environment: dict[str, str]
) -> None:
    packages = earlier / "lib/tailrace/python"
    failed = installed(earlier, PIP_NO_INDEX="1")  # as without a network
    assert failed.returncode == 1
    assert "the Python packages of the tailrace command could not be had" in failed.stderr
    assert "hint: once there is a network, call make install again" in failed.stderr
    assert (packages / "of_before.py").is_file() and (packages / "numpy").is_dir()
    assert not packages.with_name("python.new").exists()
    command = earlier / "bin/tailrace"
    assert call(command, "--version", env=clean_environment).startswith("tailrace ")
    # Whose home has the Python that the command starts.
    home = str(Path(sys.base_prefix).parent)
    cache = call(sys.executable, "-m", "pip", "cache", "dir").strip()
    done = installed(earlier, HOME=home, PIP_CACHE_DIR=cache)
    assert done.returncode == 0, done.stderr
    assert f"note: it needs libraries or a Python below {home}, which other users" in done.stderr
    assert not (packages / "of_before.py").exists() and (packages / "numpy").is_dir()
    assert call(command, "--version", env=clean_environment).startswith("tailrace ")
