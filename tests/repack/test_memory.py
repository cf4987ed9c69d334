# SPDX-License-Identifier: Apache-2.0
"""`--memory`: for the whole process, whatever the file holds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from tailrace_cli import environment

# Not what wait4() tells of a child: that begins with what its parent had.
PEAK = (
    "import sys; from tailrace.cli.main import run; code = run(sys.argv[1:]); "
    "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); sys.exit(code)"
)


def peak(file: Path, *words: str, memory: int) -> tuple[int, str]:
    """What the process took at most, in bytes, and its notes."""
    run = subprocess.run(
        [sys.executable, "-c", PEAK, "repack", file, *words, "--memory", str(memory)],
        capture_output=True, text=True, timeout=200, check=False, env=environment(),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return int(run.stdout.splitlines()[-1]) * 1024, " ".join(run.stderr.split())


def test_the_price_keeps_to_the_limit_of_memory_whatever_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large.h5"
    with h5py.File(file, "w") as new:
        made = new.create_dataset("x", (2048, 16384), "f4", chunks=(2048, 512), compression=1)
        made[...] = np.random.default_rng(1).random((2048, 16384), "f4")
    limit = 128 << 20
    words = ["--chunk", "x=16x16384", "--dry-run", "--read", "x=2048x16384"]
    assert peak(file, *words, memory=limit)[0] < limit


def test_the_limit_of_memory(tmp_path: Path) -> None:
    """The whole process keeps to it, with a file that is much larger than it, copied both ways."""
    file = tmp_path / "large.h5"
    with h5py.File(file, "w") as new:
        shape = (4096, 12288)
        made = new.create_dataset("x", shape, "f4", chunks=(1, 12288), compression=1)
        row = np.arange(12288, dtype="f4") % 17
        for start in range(0, shape[0], 256):
            made[start : start + 256] = row + np.arange(256, dtype="f4")[:, None] % 5
    limit = 160 << 20
    assert shape[0] * shape[1] * 4 > limit + (30 << 20)
    assert peak(file, "--chunk", "x=512x512", memory=limit)[0] < limit
    with h5py.File(file) as new:
        assert new["x"].chunks == (512, 512)


@pytest.mark.parametrize(("objects", "memory"), [(3000, 192 << 20), (8000, 128 << 20)])
def test_objects_count(tmp_path: Path, objects: int, memory: int) -> None:
    """Many small datasets take memory too: less is left for elements, and where there is no room
    for them it is said."""
    file = tmp_path / "many.h5"
    with h5py.File(file, "w") as new:
        for at in range(objects):
            new.create_dataset(f"{at // 100}/{at}", data=np.arange(4) + at).attrs["at"] = at
        made = new.create_dataset("x", (1024, 12288), "f4", chunks=(1, 12288), compression=1)
        made[...] = np.arange(12288, dtype="f4") % 17
    taken, said = peak(file, "--chunk", "x=512x512", memory=memory)
    if memory > 128 << 20:
        assert taken < memory and "objects take about" not in said
        return
    found = re.search(r"objects take about .* may take ([0-9.]+) MiB in all", said)
    assert found, said
    assert memory < taken < float(found[1]) * (1 << 20)
