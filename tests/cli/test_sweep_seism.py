# SPDX-License-Identifier: Apache-2.0
"""`tailrace sweep` and `scale` with the real kernel under MPI: small files, two ranks."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mpi_programs import MPIEXEC, ROMIO, need_both_mpi_io
from tailrace_cli import SOURCE, environment, in_terminal, tailrace

from tailrace.run.programs import program

pytestmark = pytest.mark.mpi
# 1 MiB; each chunk is shared, z fastest: so MPI-IO has something to gather.
GEOMETRY = ("processor=1x1x2", "domain=32x32x32", "chunk=32x32x64", "time=4")


def records_of(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def configuration_of(text: str) -> list[str]:
    """Of a dry run: lines without comments, names of files and DONE."""
    lines = (line.partition("  #")[0].strip() for line in text.splitlines())
    return sorted(x for x in lines if x and not x.startswith(("#", "filename", "results", "DONE")))


def test_the_published_line_is_planned_as_it_is_typed(tmp_path: Path) -> None:
    """No geometry: a slice is made as large as the greatest chunk."""
    need_both_mpi_io()
    line = "--vary collective=on,off --vary chunk=180x128x128,360x128x128 --vary cb_nodes=1,2,4 "
    line += "--vary mpiio=ompio,romio --vary lfs_stripe_count=1,4 --dry-run --json"
    ran = tailrace("sweep", "seism", *line.split(), cwd=tmp_path, timeout=200).expect(0)
    assert "domain=180x64x128" in ran.err
    assert {"chunk=180x128x128", "chunk=360x128x128"} <= set(" ".join(ran.json["argv"]).split())
    assert not any("larger than" in one["why"] for one in ran.json["left_out"])
    assert list(tmp_path.iterdir()) == []


def test_from_end_to_end(tmp_path: Path) -> None:
    """Counts explain, what does not fit is left out, the files to take along are real."""
    vary = ("--vary", "collective=on,off", "--vary", "deflate=0,1")
    ran = tailrace(
        "sweep", "seism", *GEOMETRY, "fill=position", *vary, "--repeat", "2", "--output", "best",
        "--report", "page.html", "--json", cwd=tmp_path, timeout=200,
    ).expect(0)  # fmt: skip
    found = ran.json
    assert [(one["name"], one["why"]) for one in found["left_out"]] == [
        ("collective=off deflate=1", "deflate needs collective writes")
    ]
    assert len(found["ranking"]) == 3 and all(x["repetitions"] == 2 for x in found["ranking"])
    why = {(one["factor"], one["level"]): one["explanation"] for one in found["effects"]}
    text = " ".join(text for (factor, _), text in why.items() if factor == "collective")
    assert "transfers" in text and "against" in text
    text = " ".join(text for (factor, _), text in why.items() if factor == "deflate")
    assert "stored" in text, "the compressed file is smaller"
    schema = json.loads((SOURCE / "schemas" / "record-1.schema.json").read_text())
    records = records_of(tmp_path)
    assert len(records) == 9 + 3 and [r["arm"]["round"] for r in records[-3:]] == [0] * 3
    assert all(r["verification"]["status"] == "passed" for r in records[-3:])
    assert found["verification"] == {"runs": 3, "why_not": ""}
    for record in records:
        jsonschema.validate(record, schema)
        assert record["arm"]["comparison"] == found["sweep"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "best",
        "page.html",
        "results.jsonl",
    ]
    page = (tmp_path / "page.html").read_text()
    assert "What each value costs" in page and "sweep-two" in page
    assert "efault: collective=off deflate=0" in page, "the time lines"
    check_taken_along(tmp_path / "best", found["ranking"][0]["settings"])


def check_taken_along(best: Path, settings: dict[str, str]) -> None:
    """Fed back, the input gives the effective configuration of the best combination."""
    switch = {"on": "1", "off": "0"}[settings["collective"]]
    words = [*GEOMETRY, "fill=position", f"collective_write={switch}",
             f"deflate={settings['deflate']}"]  # fmt: skip
    dry = [str(program("tailrace-seism")), "--dry-run"]
    texts = [
        subprocess.run([*dry, *more], cwd=best, env=environment(), capture_output=True, text=True,
                       check=True, timeout=60).stdout
        for more in (words, ["--input", "seism.in"])
    ]  # fmt: skip
    assert configuration_of(texts[0]) == configuration_of(texts[1]) != []
    command = (best / "README.md").read_text().split("    . ./environment.sh\n    ")[1]
    command = command.partition("\n")[0].replace(" tailrace-seism", f" {program('tailrace-seism')}")
    run = subprocess.run(["sh", "-c", f". ./environment.sh; {command}"], cwd=best,
                         env=environment(), capture_output=True, text=True, timeout=60)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert (best / "out").is_file() and (best / "results.jsonl").is_file()


def test_hints_and_mpi_io_reach_the_library(tmp_path: Path) -> None:
    """The hints file of the best is one that ROMIO reads; OMPIO and ROMIO are both run."""
    need_both_mpi_io()
    ran = tailrace(
        "sweep", "seism", *GEOMETRY, "collective_write", "hint=cb_config_list=*:2",
        "--vary", "mpiio=ompio,romio", "--vary", "cb_nodes=1,2", "--repeat", "1", "--output", "b",
        "--json", cwd=tmp_path, timeout=200,
    )  # fmt: skip
    ran.expect(0)
    records = {one["arm"]["name"]: one for one in records_of(tmp_path)}
    for mpi_io in ("ompio", "romio"):
        for nodes in ("1", "2"):
            record = records[f"mpiio={mpi_io} cb_nodes={nodes}"]
            assert mpi_io.upper() in record["mpi_io"]["implementation"]
            assert record["mpi_io"]["hints_requested"]["cb_nodes"] == nodes
    # ROMIO gathers on so many ranks; OMPIO lets two ranks write their pieces of 128 bytes.
    wrote = {
        name: [w["by_phase"]["write"]["calls"] for w in one["writers"]["list"]
               if w["by_phase"].get("write", {}).get("bytes_done")]
        for name, one in records.items()
    }  # fmt: skip
    assert wrote["mpiio=romio cb_nodes=1"] == [8] and wrote["mpiio=romio cb_nodes=2"] == [4, 4]
    assert wrote["mpiio=ompio cb_nodes=1"] == wrote["mpiio=ompio cb_nodes=2"] == [4096, 4096]
    # Which of the pairs an explanation tells is for the times to say.
    why = {one["factor"]: one["explanation"] for one in ran.json["effects"]}
    assert "2 of 2" in why["cb_nodes"], why
    assert "8,192 calls of 128 B" in why["mpiio"] and "8 calls of 128.0 KiB" in why["mpiio"], why
    hints = (tmp_path / "b" / "hints").read_text().splitlines()
    assert hints[0].startswith("# made by") and "cb_config_list *:2" in hints
    dry = [str(program("tailrace-seism")), *GEOMETRY, "collective_write", "filename=o",
           "results=again.jsonl"]  # fmt: skip
    # cb_nodes by the file alone: with two, both ranks write.
    (tmp_path / "hints").write_text("# as the sweep writes them\ncb_nodes 2\ncb_config_list *:2\n")
    steering = {"ROMIO_HINTS": str(tmp_path / "hints"), "OMPI_MCA_io": ROMIO}
    subprocess.run([*MPIEXEC, "-n", "2", *dry], cwd=tmp_path, timeout=60, check=True,
                   capture_output=True, env=environment(**steering))  # fmt: skip
    record = json.loads((tmp_path / "again.jsonl").read_text())
    assert sum("write" in one["by_phase"] for one in record["writers"]["list"]) == 2


def begun(folder: Path) -> subprocess.Popen[str]:
    """A sweep that has come to its second round."""
    words = ["sweep", "seism", "processor=2x1x1", "domain=8x8x8", "time=2", "--vary",
             "fsync=close,step", "--repeat", "4"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *words], cwd=folder, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    results = folder / "results.jsonl"
    while process.poll() is None:
        lines = results.read_text().splitlines() if results.exists() else []
        if len(lines) >= 5:
            break
        time.sleep(0.02)
    return process


def test_an_interrupt_shows_what_there_is_and_resume_completes_it(tmp_path: Path) -> None:
    process = begun(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "2 combinations" in out and "ended early" in err
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"], "folders are removed"
    known = len(records_of(tmp_path))
    resumed(tmp_path, known)


def test_a_kill_loses_one_run_and_resume_completes_it(tmp_path: Path) -> None:
    process = begun(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    resumed(tmp_path, len(records_of(tmp_path)))


def resumed(folder: Path, known: int) -> None:
    words = ("processor=2x1x1", "domain=8x8x8", "time=2", "--vary", "fsync=close,step")
    ran = tailrace("sweep", "seism", *words, "--repeat", "4", "--resume", "--json", cwd=folder,
                   timeout=120).expect(0)  # fmt: skip
    assert [one["repetitions"] for one in ran.json["ranking"]] == [4, 4]
    records = records_of(folder)
    assert len(records) == 10 and known < 10, "exactly what was missing"
    assert len({(one["arm"]["name"], one["arm"]["round"]) for one in records}) == 10


def test_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    words = ["processor=1x1x1", "domain=8x8x8", "time=2", "--vary", "fsync=close,step"]
    screen = in_terminal(["sweep", "seism", *words, "--repeat", "1"], tmp_path)
    assert screen.code == 0, screen.text
    assert re.search(r"run 4 of 4: round 1 of 1, fsync=\w+ .*\d:\d\d left", screen.text)
    assert "2 combinations" in screen.text and "MiB/s" in screen.text


def test_scale(tmp_path: Path) -> None:
    ran = tailrace(
        "scale", "seism", "--ranks", "1,2", "--mode", "strong", "domain=32x32x32", "time=2",
        "--repeat", "2", "--json", cwd=tmp_path, timeout=120,
    ).expect(0)  # fmt: skip
    found = ran.json
    assert [one["ranks"] for one in found["points"]] == [1, 2]
    assert {one["logical_bytes"] for one in found["points"]} == {2 * 32**3 * 4}
    assert found["model"] is None and "3 are needed for a model" in found["no_model"]
    shapes = {tuple(r["configuration"]["processor"]): r["configuration"]["domain"]
              for r in records_of(tmp_path)}  # fmt: skip
    assert shapes == {(1, 1, 1): [32, 32, 32], (2, 1, 1): [16, 32, 32]}
