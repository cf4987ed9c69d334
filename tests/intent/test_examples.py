# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/intents, small: judged by counts and contents, never by time."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import pytest
from mpi_programs import MPIEXEC
from tailrace_cli import SOURCE, tailrace

EXAMPLES = SOURCE / "examples" / "intents"
VARIABLES = 8
WHY = "Settings, and why"
DOES, HELD = "What the program does", "Considered and held back"
Json = dict[str, Any]


@dataclass
class Loop:
    """What a script printed, by step, and the folder that it wrote into."""

    folder: Path
    steps: list[str]

    def json(self, name: str) -> Json:
        found: Json = json.loads((self.folder / name).read_text())
        return found

    @property
    def records(self) -> list[Json]:
        lines = (self.folder / "results.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


def loop(folder: Path, script: str, ranks: int, *words: str) -> Loop:
    done = subprocess.run(
        [EXAMPLES / script, *words],
        env=os.environ | {"FOLDER": str(folder), "COLUMNS": "80", "PAIRS": "2",
                          "LAUNCH": " ".join([*MPIEXEC, "-n", str(ranks)])},
        timeout=150, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    steps = re.split(r"^== \d\. .*\n", done.stdout, flags=re.M)[1:]
    assert len(steps) == 7
    return Loop(folder / script.removesuffix(".sh"), steps)


def blocks(ran: Loop, size: int, ranks: int) -> None:
    """Both runs, of which one alone is no comparison: no time and no rate."""
    for text in (ran.steps[3], ran.steps[4]):
        assert "time:" not in text and "rate:" not in text
        assert re.search(rf"^Total number of ranks: +{ranks}$", text, re.M)
        assert re.search(rf"^Total write size: .*\({size} bytes\)$", text, re.M)


def timed(ran: Loop) -> None:
    """In pairs, which say that they are."""
    assert "pairs" in ran.steps[6] and "drift" not in ran.steps[6], ran.steps[6]
    for name in ("without", "with"):
        assert len((ran.folder / f"{name}.jsonl").read_text().splitlines()) == 2


def verified(ran: Loop, elements: int) -> None:
    """Every element of both runs by the program, and every one of the two files side by side."""
    runs = [record for record in ran.records if record["verification"]["status"] != "not_run"]
    assert [run["verification"]["status"] for run in runs] == ["passed", "passed"]
    assert [run["verification"]["elements"] for run in runs] == [elements, elements]
    files = sorted(path.name for path in ran.folder.glob("*.h5"))
    assert ran.steps[5].count("same logical content") == len(files) > 0
    tailrace("verify", "--each", *(ran.folder / name for name in files)).expect(0)


def sections(text: str, *titles: str) -> dict[str, str]:
    """What advise prints, on one line by section; the sections stand in their order."""
    at = [text.index(f"{title}\n") for title in titles]
    assert at == sorted(at)
    parts = (text[a:b] for a, b in zip(at, [*at[1:], len(text)], strict=True))
    return {name: " ".join(part.split()) for name, part in zip(titles, parts, strict=True)}


def arrived(ran: Loop, ranks: int, files: int, block: int) -> None:
    """The plan's setting: said, put by every rank, and in force, where it was not before."""
    plan = ran.json("plan.json")
    settings = {setting["key"]: (entry, setting) for entry in plan["entries"]
                for setting in entry["settings"]}  # fmt: skip
    entry, setting = settings["meta_block_bytes"]
    assert (entry["when"], setting["value"], setting["because"]["rule"]) == ("create", block, "3")
    lines = [line for line in ran.steps[4].splitlines() if line.startswith("rule ")]
    put = f"rule 3, meta_block_bytes = {block}: applied {ranks} times: "
    (line,) = [line for line in lines if line.startswith(put)]
    assert line.count(".h5.part") == min(files, 3)
    # Each setting of the plan has its line, whatever became of it.
    assert {line.split(", ")[1].split(" = ")[0].split(":")[0] for line in lines} == set(settings)
    in_force = [run["file"]["settings"]["metadata_block_bytes"] for run in ran.records[-2:]]
    assert in_force == ["2048", str(block)]


def test_vpic_like_shared_and_collective(tmp_path: Path) -> None:
    ranks, particles, steps = 4, 16384, 12
    ran = loop(tmp_path, "vpic_shared.sh", ranks, f"dim_1={particles}")
    elements = ranks * particles * VARIABLES * steps
    blocks(ran, 4 * elements, ranks)
    verified(ran, elements)
    timed(ran)
    arrived(ran, ranks, files=1, block=1 << 20)
    # MPICH's ROMIO tells HDF5 nothing of it.
    told = os.environ["TAILRACE_TEST_MPI"] == "openmpi"
    assert ran.records[-1]["transfers"]["collective_actual"] is (True if told else None)
    parts = sections(ran.steps[2], WHY, DOES)
    for words in (
        "vpic.h5.part (1 file) output: written, not read by this run",
        f"1. transfer size: 64.0 KiB ({ranks * VARIABLES * steps} calls)",
        "2. access pattern: write-only",
        f"4. hot segments: {particles} elements ({ranks * VARIABLES * steps} times)",
        "5. process sharing: a shared file, 4 processes; disjoint blocks; collective I/O",
        "6. reliability: durable",
    ):
        assert words in parts[DOES], parts[DOES]
    assert "(when it is created) meta_block_bytes = 1048576 (1 MiB) [" in parts[WHY]
    assert "as it is: driver mpio, communicator_size 4" in parts[DOES]
    intents = ran.json("intents.json")
    assert intents["workload"]["type"]["value"] == "write_only"
    assert intents["workload"]["sharing_pattern"]["value"] == "shared"
    (file,) = [one for path, one in intents["files"].items() if path.endswith("/vpic.h5.part")]
    assert file["volume"]["bytes_written"] == 4 * elements
    with h5py.File(ran.folder / "vpic.h5") as written:
        assert len(written) == steps and written["Timestep_4/id_2"].shape == (ranks * particles,)


def test_write_only_with_a_file_per_process(tmp_path: Path) -> None:
    ranks, steps, count, size = 3, 12, 128, 64
    ran = loop(tmp_path, "file_per_process.sh", ranks, "dim_1=16384", "stride_size=128",
               f"block_size={size}")  # fmt: skip
    written = ranks * steps * VARIABLES * count * size
    blocks(ran, 4 * written, ranks)
    verified(ran, ranks * steps * VARIABLES * 16384)
    timed(ran)
    assert ran.steps[2].startswith("No settings: all rules that fit are held back")
    parts = sections(ran.steps[2], DOES, HELD)
    calls = ranks * steps * VARIABLES * count
    for words in (
        "rank_{rank}_test.h5.part (3 files) output: written, not read by this run",
        f"1. transfer size: 256 B ({calls:,} calls)",
        "2. access pattern: write-only",
        "in 3 files",
        f"4. hot segments: {size} elements ({calls:,} times)",
        "5. process sharing: a file per process, 3 processes; independent I/O",
    ):
        assert words in parts[DOES], parts[DOES]
    # Its calls are so many and small that the connector would cost more than rule 3 spares: it is
    # not loaded.
    held = r"rule 3, .* calls of H5Dwrite or H5Dread, 8\d for each"
    assert re.search(held, parts[HELD], re.S), parts[HELD]
    assert not ran.json("plan.json").get("entries")
    assert "The plan has nothing to apply." in ran.steps[4]
    in_force = [run["file"]["settings"]["metadata_block_bytes"] for run in ran.records[-2:]]
    assert in_force == ["2048", "2048"]
    # What made the published demonstration slower from end to end is considered, and not done: it
    # would keep all that is written in memory.
    assert "rule 32, " in parts[HELD]
    assert re.search(rf"{calls // ranks} calls of \d+ bytes on average", parts[HELD])
    assert "its data would be in memory alone until the close" in parts[HELD]
    intents = ran.json("intents.json")
    assert intents["workload"]["sharing_pattern"]["value"] == "file_per_process"
    # One rank's file is all: the pattern, not three names.
    held = {one["because"]["rule"]: one["file"] for one in ran.json("plan.json")["held_back"]}
    assert held["3"].endswith("/rank_[0-9]*_test.h5.part")


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "vpic_shared" / "precious.h5"
    precious.parent.mkdir()
    precious.write_text("mine")
    done = subprocess.run(
        [EXAMPLES / "vpic_shared.sh"], env=os.environ | {"FOLDER": str(tmp_path)}, timeout=30,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "is there already" in done.stderr
    assert precious.read_text() == "mine" and len(list(precious.parent.iterdir())) == 1


@pytest.mark.parametrize("script", ["vpic_shared", "file_per_process"])
def test_the_configurations_are_files_of_h5bench(script: str) -> None:
    """A file that h5bench takes as well: its sections, all values texts, one benchmark."""
    found = json.loads((EXAMPLES / f"{script}.json").read_text())
    assert set(found) == {"mpi", "vol", "file-system", "directory", "benchmarks"}
    (benchmark,) = found["benchmarks"]
    assert benchmark["benchmark"] == "write"
    assert all(isinstance(value, str) for value in benchmark["configuration"].values())
    assert (EXAMPLES / f"{script}.sh").stat().st_mode & 0o111
