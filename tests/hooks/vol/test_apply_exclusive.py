# SPDX-License-Identifier: Apache-2.0
"""A plan and files that must not be there yet."""

from __future__ import annotations

from pathlib import Path

import h5py
from plans import applied, entry, setting, write_plan

RACE = """
import h5py, os, sys, time
begin, made = time.time() + 0.5, 0
for _ in range(3): os.fork()  # eight processes
while time.time() < begin: pass
for number in range(400):
    try:
        f = h5py.File(f"{number}.h5", "x")
    except FileExistsError:
        continue
    made += 1
    f.attrs["by"] = os.getpid()
    f.close()
open(f"made.{os.getpid()}", "w").write(str(made))
try:
    while os.wait(): pass
except ChildProcessError: pass
"""


def test_of_programs_that_create_one_file_at_once_one_wins(tmp_path: Path) -> None:
    """Whoever is late must not take away the file of the first, also where the library refuses
    settings of the plan and the create is made twice."""
    plan = write_plan(tmp_path, entry("*.h5", setting("9", "page_buffer_bytes", 1 << 20)))
    ran, _ = applied(tmp_path, plan, RACE)
    ran.expect(0)
    made = [int(file.read_text()) for file in tmp_path.glob("made.*")]
    assert len(made) == 8 and sum(made) == 400
    assert sum(count > 0 for count in made) > 1, "they met"
    for number in range(400):
        with h5py.File(tmp_path / f"{number}.h5") as f:
            assert f.attrs["by"] > 0
