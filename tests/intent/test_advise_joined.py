# SPDX-License-Identifier: Apache-2.0
"""Runs in folders of their own (job_31, job_32): what each showed holds for the next one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import h5py
from tailrace_cli import tailrace

Json = dict[str, Any]

# As it is packed by the program itself, or by HDF5.
ROWS = """
import sys, zlib
import h5py, numpy as np
size, how = int(sys.argv[1]), sys.argv[2]
data = np.arange(float(size * size)).reshape(size, size)
with h5py.File("out.h5", "w") as f:
    rows = f.create_dataset("rows", data.shape, "f8", chunks=(32, 32),
                            compression=1 if how == "direct" else None)
    if how == "direct":
        for i in range(0, size, 32):
            for j in range(0, size, 32):
                packed = zlib.compress(data[i:i + 32, j:j + 32].tobytes(), 1)
                rows.id.write_direct_chunk((i, j), packed)
    else:
        rows[...] = data
"""

# Columns are read back, or not.
COLUMNS = """
import sys
import h5py, numpy as np
size, read = int(sys.argv[1]), sys.argv[2] == "read"
with h5py.File("out.h5", "w") as f:
    rows = f.create_dataset("rows", (size, size), "f8", chunks=(64, size), compression=1)
    for i in range(0, size, 64):
        rows[i:i + 64] = np.arange(64.0 * size).reshape(64, size)
with h5py.File("out.h5") as f:
    for column in range(200 if read else 0):
        f["rows"][:, column]
"""

# Flushed, or read back.
SMALL = """
import sys
import h5py
number, how = int(sys.argv[1]), sys.argv[2]
with h5py.File("out.h5", "w") as f:
    for one in range(number):
        f.create_dataset(f"d{one}", data=[one] * 8)
    if how == "flush":
        f.flush()
if how == "read":
    with h5py.File("out.h5") as f:
        assert all(f[f"d{one}"][0] == one for one in range(number))
"""


def recorded(folder: Path, text: str, *words: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder.parent / "program.py").write_text(text)
    profile = folder.parent / f"{folder.name}-{words[0]}.json"
    tailrace("profile", "-o", profile, "--", sys.executable, "../program.py", *words,
             cwd=folder).expect(0)  # fmt: skip
    return profile


def planned(folder: Path, *profiles: Path) -> Json:
    tailrace("advise", *profiles, "-o", "plan.json", cwd=folder).expect(0)
    plan: Json = json.loads((folder / "plan.json").read_text())
    return plan


def rules_of(plan: Json) -> dict[str, set[str]]:
    """By rule the files that it is for."""
    found: dict[str, set[str]] = {}
    for one in plan.get("entries", []):
        for setting in one["settings"]:
            found.setdefault(setting["because"]["rule"], set()).add(one["file"])
    return found


def test_what_harms_a_smaller_run_is_held_back_for_all(tmp_path: Path) -> None:
    """A plan with other chunks would make the program's own ones an error."""
    runs = [
        recorded(tmp_path / "job_31", ROWS, "256", "direct"),
        recorded(tmp_path / "job_32", ROWS, "1024", "plain"),
    ]
    assert "18" in rules_of(planned(tmp_path, runs[1]))
    for order in (runs, runs[::-1]):
        plan = planned(tmp_path, *order)
        assert "18" not in rules_of(plan)
        held = [one for one in plan["held_back"] if one["because"]["rule"] == "18"]
        assert "the program writes whole chunks itself" in held[0]["because"]["text"]
        folder = tmp_path / "job_33"
        folder.mkdir(exist_ok=True)
        tailrace("apply", "../plan.json", "--", sys.executable, "../program.py", "256", "direct",
                 cwd=folder).expect(0)  # fmt: skip
        with h5py.File(folder / "out.h5") as f:
            assert f["rows"][255, 255] == 256 * 256 - 1


def test_what_helps_a_smaller_run_is_for_the_next_one_too(tmp_path: Path) -> None:
    runs = [
        recorded(tmp_path / "job_17", COLUMNS, "2048", "read"),
        recorded(tmp_path / "job_99", COLUMNS, "2304", "not"),
    ]
    (pattern,) = rules_of(planned(tmp_path, *runs))["13"]
    assert pattern.endswith("/job_[0-9]*/out.h5")
    (tmp_path / "job_100").mkdir()
    ran = tailrace("apply", "plan.json", "--", sys.executable, "program.py", "2048", "read",
                   cwd=tmp_path)  # fmt: skip
    assert "not met" in ran.expect(0).out + ran.err  # in another folder
    ran = tailrace("apply", "../plan.json", "--", sys.executable, "../program.py", "2048", "read",
                   cwd=tmp_path / "job_100")  # fmt: skip
    said = (ran.expect(0).out + ran.err).splitlines()
    assert any("rule 13" in line and "applied" in line for line in said)
    shown = tailrace("advise", *runs, cwd=tmp_path).expect(0).out
    assert "(0 datasets)" not in shown


def test_the_more_careful_run_says_how_bad_it_would_be_to_lose_it(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    runs = [recorded(folder, SMALL, "1200", "flush"), recorded(folder, SMALL, "2400", "read")]
    assert "7" in rules_of(planned(tmp_path, runs[1]))
    for order in (runs, runs[::-1]):
        plan = planned(tmp_path, *order)
        assert "7" not in rules_of(plan)
        held = [one for one in plan["held_back"] if one["because"]["rule"] == "7"]
        assert [one["guard"] for one in held] and {one["guard"] for one in held} == {"reliability"}
    intents = tailrace("intents", *runs, "--json", cwd=tmp_path).expect(0).json
    (file,) = (one for one in intents["files"].values() if one["type"]["value"] != "none")
    assert file["reliability"]["value"] == "durable" and file["reliability"]["changes"]


TWO = """
import h5py
for name, number in (("out_1.h5", 10), ("out_2.h5", 2400)):
    with h5py.File(name, "w") as f:
        for one in range(number):
            f.create_dataset(f"d{one}", data=[one] * 8)
        if number == 10:
            f.flush()
with h5py.File("out_2.h5") as f:
    assert all(f[f"d{one}"][0] == one for one in range(2400))
"""


def test_a_file_that_is_too_small_for_a_rule_is_not_lost_by_it(tmp_path: Path) -> None:
    """The rule is for all files of the pattern, also for the one that is to last."""
    plan = planned(tmp_path, recorded(tmp_path / "run", TWO, ""))
    assert "7" not in rules_of(plan)
    (held,) = (one for one in plan["held_back"] if one["because"]["rule"] == "7")
    assert "out_1.h5 counts as durable" in held["because"]["text"]
