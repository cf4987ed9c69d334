# SPDX-License-Identifier: Apache-2.0
"""What a writer should have chosen: programs that are run as they are, and with the lines that
advice gives them. Compared by bytes, calls and sizes, which no other process changes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest
from tailrace_cli import tailrace
from test_advise_beyond import of_rule, profiled, script
from test_snippets_effect import HEAD, ran

Json = dict[str, Any]
# The program's own chunks, before those of the lines.
OWN = """
own = dict({chunks})
own |= dataset_arguments["out.h5", "x"]
"""
FRAMES = """
with h5py.File("out.h5", "w") as file:
    x = file.create_dataset("x", (256, 256, 64), "f4", **own)
    for at in range(16): x[:, :, at] = at
print(moved("wchar"))
"""
ROWS = """
rows = numpy.random.default_rng(1).random((100, 2000))
for at in range(100):
    with h5py.File("out.h5", "a" if at else "w") as file:
        if at == 0:
            own |= {"maxshape": (None, 2000), "compression": "gzip"}
            file.create_dataset("x", (0, 2000), "f8", **own)
        x = file["x"]
        x.resize(at + 1, axis=0)
        x[at] = rows[at]
print(moved("wchar"))
"""
APPENDS = """
with h5py.File("out.h5", "w") as file:
    x = file.create_dataset("x", (1,), "f4", maxshape=(None,), **own)
    for at in range(300):
        x.resize(1000 * (at + 1), axis=0)
        x[1000 * at :] = at
print(Path("out.h5").stat().st_size)
"""
POINTS = """
with h5py.File("out.h5", "w") as file:
    file.create_dataset("x", data=numpy.ones((24, 24, 24)), **own)
print(Path("out.h5").stat().st_size)
"""
PATTERNS = {
    "frames": (FRAMES, "chunks=(64, 64, 64)", (256, 256, 1), 20),
    "rows": (ROWS, "chunks=(100, 2000)", (8, 2000), 5),
    "appends": (APPENDS, "", None, 4),
    "points": (POINTS, "chunks=(1, 1, 1)", None, 4),
}


def as_it_is(folder: Path, program: str, own: str) -> tuple[Path, int]:
    """Its profile, and the number that it prints."""
    nothing = "from collections import defaultdict\ndataset_arguments = defaultdict(dict)\n"
    text = OWN.replace("{chunks}", own) + program
    plain = ran(folder, text, nothing)
    profile = profiled(folder, sys.executable, script(folder, nothing + HEAD + text))
    return profile, plain


@pytest.mark.parametrize("name", list(PATTERNS))
def test_the_chunks_that_are_advised(tmp_path: Path, name: str) -> None:
    program, own, chunks, gain = PATTERNS[name]
    profile, plain = as_it_is(tmp_path, program, own)
    lines = tailrace("advise", profile, "--as", "h5py").expect(0).out
    tuned = ran(tmp_path, OWN.replace("{chunks}", own) + program, lines)
    assert tuned * gain < plain
    with h5py.File(tmp_path / "out.h5") as file:
        assert chunks in (None, file["x"].chunks)
    about = lines[lines.index("out.h5:/x (rule") :]
    assert "# why: " in about and "# expected: " in about


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("frames", "16 times instead of 256: by estimate its transfers are more than 10 times"),
        ("rows", "100 times, 125 KiB instead of 1.53 MiB: by estimate .* are [6-9](.[0-9])? times"),
    ],
)
def test_what_the_plan_leaves_alone_is_advised(tmp_path: Path, name: str, told: str) -> None:
    program, own, chunks, _ = PATTERNS[name]
    profile, _ = as_it_is(tmp_path, program, own)
    plan: Json = tailrace("advise", "--json", profile).expect(0).json["plan"]
    found = of_rule("72", plan["advice"])
    assert tuple(found["chunk"]) == chunks
    assert f"chunks={chunks}" in found["text"]
    assert re.search(told, found["because"]["effect"]), found["because"]["effect"]
    assert not any(one["key"] == "chunk" for entry in plan.get("entries", [])
                   for one in entry["settings"])  # fmt: skip


def test_the_size_that_is_said_is_that_of_the_file(tmp_path: Path) -> None:
    program, own, _, _ = PATTERNS["points"]
    profile, size = as_it_is(tmp_path, program, own)
    told = " ".join(tailrace("advise", profile).expect(0).out.split())
    times = re.search(r"takes about ([0-9.]+) times its data", told)
    assert times is not None, told
    assert float(times[1]) == pytest.approx(size / (24**3 * 8), rel=0.2)


def test_chunks_as_they_are_written_need_no_advice(tmp_path: Path) -> None:
    profile, _ = as_it_is(tmp_path, FRAMES, "chunks=(256, 256, 1)")
    plan: Json = tailrace("advise", "--json", profile).expect(0).json["plan"]
    assert not [one for one in plan.get("advice") or [] if one["because"]["rule"] == "72"]
