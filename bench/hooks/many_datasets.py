# SPDX-License-Identifier: Apache-2.0
"""A file of many small datasets, each read once: how large its profile is, and what `tailrace
advise` takes for it.

    python bench/hooks/many_datasets.py --build BUILD [--datasets 20000] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAKE = """
import h5py, numpy as np
with h5py.File("many.h5", "w") as file:
    group = file.create_group("samples")
    for number in range({count}):
        group[f"sample_{{number:05}}"] = np.arange(16.0) + number
"""
READ = """
import h5py
with h5py.File("many.h5") as file:
    for name in file["samples"]:
        file["samples"][name][()]
"""


def processor_s(words: list[str], folder: Path) -> float:
    """That a command takes, with the processes that it starts."""
    before = os.times()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (
        after.children_user + after.children_system
        - before.children_user - before.children_system
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--datasets", type=int, default=20000)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    asked = parser.parse_args()
    tailrace = str(asked.build.resolve() / "bin" / "tailrace")
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        python = [sys.executable, "-c"]
        subprocess.run([*python, MAKE.format(count=asked.datasets)], cwd=folder, check=True)
        recorded = processor_s([tailrace, "profile", "--", *python, READ], folder)
        size = (folder / "profile.json").stat().st_size
        advised = processor_s([tailrace, "advise", "profile.json", "-o", "plan.json"], folder)
    print(
        f"{asked.datasets} datasets: a profile of {size / 1e6:.1f} MB, of a run of "
        f"{recorded:.1f} s of processor time; advise: {advised:.1f} s of processor time"
    )


if __name__ == "__main__":
    main()
