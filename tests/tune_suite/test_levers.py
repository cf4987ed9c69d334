# SPDX-License-Identifier: Apache-2.0
"""Programs of the suite that only read: the levers that their profiles lead to, and that `advise`,
`repack` and `tune` say the same of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "bench" / "tune"))
sys.path.insert(0, str(SOURCE / "tests" / "support" / "python"))

from mpi_programs import BUILD  # noqa: E402
from own_namespace import not_run  # noqa: E402
from tailrace_cli import called, tailrace  # noqa: E402
from tune_suite.programs import Places, read  # noqa: E402

from tailrace.repack.reading import BadlyRead, badly_read  # noqa: E402

Json = dict[str, Any]


def facts(because: Json) -> Json:
    return {one["name"]: one["value"] for one in because["evidence"]}


class Seen:
    """A program's profile, and the plan that follows."""

    def __init__(self, folder: Path, name: str, scale: float) -> None:
        (program,) = [one for one in read() if one.name == name]
        places = Places(BUILD)
        if missing := program.missing(places):
            not_run(f"needs {missing}")
        made = program.words(places, scale, make_input=True)
        subprocess.run(made, cwd=folder, check=True, timeout=60)
        self.folder, self.words = folder, program.words(places, scale)
        self.look()

    def look(self) -> None:
        """At a run."""
        called("profile", "-o", "profile.json", "--", *self.words).expect(0)
        called("advise", "profile.json", "-o", "plan.json").expect(0)
        self.plan = json.loads((self.folder / "plan.json").read_text())
        self.badly = badly_read(json.loads((self.folder / "profile.json").read_text()))

    def caches(self) -> list[Json]:
        """Settings of rule 13 that size a cache."""
        settings = [one for entry in self.plan.get("entries", []) for one in entry["settings"]]
        return [one for one in settings
                if (one["because"]["rule"], one["key"]) == ("13", "chunk_cache_bytes")]  # fmt: skip

    def advice(self, rule: str) -> list[Json]:
        return [one for one in self.plan.get("advice", []) if one["because"]["rule"] == rule]

    def beside_the_plan(self) -> list[BadlyRead]:
        return badly_read(json.loads((self.folder / "profile.json").read_text()), self.plan)

    def repacked(self, file: str) -> list[Json]:
        """What `repack` would change."""
        found = called("repack", file, "--profile", "profile.json", "--dry-run", "--json")
        return list(found.expect(0).json["datasets"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_chunks_that_come_in_turns(here: Path) -> None:
    seen = Seen(here, "training-samples", 0.5)
    (cache,) = seen.caches()
    assert cache["profiled"] >= 6 * 500 * 288 * 19 * 4
    assert "chunks are brought into the cache 6 times instead of 30" in cache["because"]["effect"]
    assert not seen.advice("16"), "a cache for one chunk is not told besides"
    (file,) = seen.badly
    assert file.saved_s is not None and file.saved_s > facts(cache["because"])["estimated.saved"]
    (advice,) = seen.advice("75")
    assert facts(advice["because"])["estimated.times"] == pytest.approx(file.times)
    # What the cache leaves is what other chunks can save on top of it.
    (beside,) = seen.beside_the_plan()
    assert beside.saved_s is not None and beside.saved_s == pytest.approx(
        file.saved_s - facts(cache["because"])["estimated.saved"], rel=0.1
    )
    (changed,) = seen.repacked(file.path)
    assert changed["to"]["chunk"][1:] == [288, 19] and changed["to"]["chunk"][0] <= 12


def test_points_out_of_maps(here: Path) -> None:
    seen = Seen(here, "netcdf-points", 0.5)
    (file,) = seen.badly
    assert file.times > 50 and len(seen.advice("75")) == 1
    (changed,) = seen.repacked(file.path)
    assert changed["to"]["chunk"][0] >= 240


def test_advise_and_repack_say_the_same_of_rows(here: Path) -> None:
    seen = Seen(here, "sparse-rows", 0.1)
    (file,) = seen.badly
    changed = seen.repacked(file.path)
    assert [one["path"] for one in changed] == ["/data", "/indices"]
    assert all(one["to"]["chunk"][0] <= 4096 for one in changed)
    (advice,) = seen.advice("75")
    assert "(1 more like it)" in advice["because"]["text"]
    called("repack", file.path, "--profile", "profile.json").expect(0)
    seen.look()
    assert (seen.badly, seen.advice("75"), seen.repacked(file.path)) == ([], [], [])


def test_a_cache_for_all_rows_leaves_other_chunks_nothing(here: Path) -> None:
    seen = Seen(here, "sparse-rows", 0.25)
    assert len(seen.badly) == 1 and seen.caches()
    assert seen.beside_the_plan() == [], "two cures of the same reads"


def test_sources_of_a_virtual_dataset(here: Path) -> None:
    seen = Seen(here, "virtual-points", 0.3)
    (advice,) = seen.advice("76")
    assert advice["dataset"] == "/t2m" and "go file by file" in advice["text"]
    assert facts(advice["because"])["behind.files"] == 12
    assert facts(advice["because"])["estimated.times"] > 4


def test_the_largest_lever_is_tried_first(here: Path) -> None:
    (program,) = [one for one in read() if one.name == "training-samples"]
    made = program.words(Places(BUILD), 0.5, make_input=True)
    subprocess.run(made, cwd=here, check=True, timeout=60)
    words = program.words(Places(BUILD), 0.5)
    found = tailrace("tune", "--json", "--", *words, cwd=here, timeout=240).expect(0).json
    (cache,) = [one for one in found["rules"] if one["rule"] == "13"]
    repack = found["repack"]
    assert repack["estimated"] > cache["estimated"] > 1.5
    assert repack["became"] == "faster" and repack["content"]["reads_compared"] == 30
    names = [run["name"] for run in found["runs"]]
    trials = [at for at, name in enumerate(names) if name.startswith("trial")]
    assert names.index("check repacked") < min(trials, default=len(names))
