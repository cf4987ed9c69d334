# SPDX-License-Identifier: Apache-2.0
"""`--cold` and `--search` from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mpi_programs import BUILD
from own_namespace import not_run
from tailrace_cli import SOURCE, environment, tailrace

from tailrace.tune import inputs

PROGRAM = BUILD / "tests/bin/tune_program"
SCHEMA = json.loads((SOURCE / "schemas/tune-1.schema.json").read_text())
ATTEMPTS = 3  # a machine that is at work may differ from itself, which is a proper answer
MIB = 1 << 20
# It is enough for the first dataset, of 12 MiB, and half of what the second one takes.
SITE = {
    "schema": "tailrace-rules/1",
    "rules": [{
        "id": "site.cache", "title": "Our cache", "scope": "dataset", "class": "safe",
        "trigger": [{"measure": "dataset.chunk_bytes", "is": "at_least", "value": MIB, "held": ""}],
        "guard": [], "when": "any",
        "settings": [{"key": "chunk_cache_bytes", "value": 16 * MIB}],
        "effect": "chunks are packed once", "source": "our tests",
    }],
}  # fmt: skip
Json = dict[str, Any]


def kept(home: Path, *words: str | Path) -> Json:
    for _ in range(ATTEMPTS):
        found: Json = tailrace("tune", "--json", *words, cwd=home, timeout=240).expect(0).json
        jsonschema.validate(found, SCHEMA)
        if found["verdict"] != "no_verdict":
            break
    assert found["verdict"] == "kept", found["reason"]
    return found


def test_a_search_finds_the_cache_that_a_plan_had_too_small(home: Path) -> None:
    site = home / "site.json"
    site.write_text(json.dumps(SITE))
    found = kept(
        home, "--search", "30s", "--rules", site, "--", PROGRAM, "out.h5", "wider"
    )  # fmt: skip
    change, *_ = [one for one in found["changes"] if "site.cache" in one]  # more may be noise
    assert change.startswith(f"rule site.cache, chunk_cache_bytes: {32 * MIB}: ")
    plan = json.loads(Path(found["plan"]).read_text())
    (size,) = {
        one["value"]
        for entry in plan["entries"]
        for one in entry["settings"]
        if one["key"] == "chunk_cache_bytes"
    }
    assert size >= 32 * MIB
    in_force = {one["value"] for one in found["in_force"] if one["setting"] == "chunk_cache_bytes"}
    assert in_force == {str(size)}
    searched = [one for one in found["runs"] if one["name"].startswith("search ")]
    assert len({one["name"].rsplit("/", 1)[1] for one in searched}) >= 3
    assert change in Path(found["report"]).read_text()
    assert found["equal_content"] is True


# How much of a file is in the page cache, as the system says it: fails unless that is as little or
# as much as it should be. The recorded run is before anybody knows what is read.
RESIDENT = """
import ctypes, mmap, os, sys
name, wanted = sys.argv[1:]
with open(name, "rb") as file:
    view = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE)
pages = -(-len(view) // mmap.PAGESIZE)
there = (ctypes.c_ubyte * pages)()
start = ctypes.addressof(ctypes.c_char.from_buffer(view))
if ctypes.CDLL(None).mincore(ctypes.c_void_p(start), ctypes.c_size_t(len(view)), there):
    sys.exit("mincore")
share = sum(page & 1 for page in there) / pages
if os.environ.get("TAILRACE_MODE") != "record":
    assert share < 0.1 if wanted == "cold" else share > 0.9, f"{share} of it is in memory"
"""


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_inputs_are_out_of_the_page_cache_or_in_it_before_each_run(home: Path, cache: str) -> None:
    subprocess.run([PROGRAM, "in.h5"], cwd=home, env=environment(), check=True)
    if inputs.cold([home / "in.h5"]):
        not_run("needs a temporary folder on a disk: TMPDIR lies in memory")
    (home / "resident.py").write_text(RESIDENT)
    script = f"'{sys.executable}' -S resident.py in.h5 {cache} && exec '{PROGRAM}' in.h5 read"
    found = kept(home, *(["--cold"] if cache == "cold" else []), "--", "sh", "-c", script)
    assert found["times"]["cache"] == cache
    assert found["content"]["report"]["reads_compared"] == 6
    # A machine that stalls has a run made once more, and says so; repacking brings nothing more; a
    # run is shorter than the start of `tailrace apply`.
    about = ("was repeated", "and the plan serves them too", "to start, beside these times")
    assert [one for one in found["notes"] if not any(word in one for word in about)] == []


def test_a_budget_binds_the_recording_too_and_says_how_much_is_needed(home: Path) -> None:
    ran = tailrace("tune", "--budget", "1s", "--", "sleep", "60", cwd=home, timeout=50)
    assert "has not ended after 1 s, all that --budget gives" in ran.expect(1).err
    assert "some 12 runs, which take more than 1 minute" in ran.err
    assert list(home.iterdir()) == [home / "mine.txt"]
