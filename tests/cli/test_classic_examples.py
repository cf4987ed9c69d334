# SPDX-License-Identifier: Apache-2.0
"""The samples of examples/classic are what the programs print: made again, and compared.

What is masked, and why: examples/classic/README.md. TAILRACE_REGENERATE=1 writes them anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from mpi_programs import MPIEXEC
from tailrace_cli import SOURCE

CLASSIC = SOURCE / "examples" / "classic"
_number = r"[0-9][0-9.]*(?:e[-+]?[0-9]+)?"
_of_the_file_system = "Bytes stored|Bytes on disk blocks|Space reserved|Written besides the data"
_rules = (
    (re.compile(rf"{_number} (s|[MG]i?B/s)\b"), r"# \1"),
    (re.compile(rf"^({_of_the_file_system}):.*", re.M), r"\1: #"),
    (re.compile(r"\b(OMPIO|HDF5) [0-9][0-9.]*"), r"\1 #"),
    (re.compile(r"(not measured).*"), r"\1"),
    (re.compile(rf"= {_number}(  seconds\.)"), r"= #\1"),
    (re.compile(r"(_since =) \d+"), r"\1 #"),
    (re.compile(r"(total time across processes [^:]*:).*"), r"\1 #"),
    (re.compile(rf"^(\S+ +\d+)( +{_number}){{3}} +{_number}%$", re.M), r"\1 #"),
)  # fmt: skip


def masked(text: str) -> str:
    """The rows of a table of timers are in the order of times: here in that of names."""
    for pattern, mask in _rules:
        text = pattern.sub(mask, text)
    rows: list[str] = []
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if re.fullmatch(r"\S+ +\d+ #", line):
            rows.append(line)
            continue
        lines += sorted(rows)
        rows = []
        lines.append(line)
    return "\n".join(lines[:-1])


def printed(*words: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | {"OMPI_MCA_io": "ompio"} | environment, timeout=100,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compare(name: str, text: str) -> None:
    sample = CLASSIC / name
    if os.environ.get("TAILRACE_REGENERATE"):
        sample.write_text(text)
    assert masked(text).splitlines() == masked(sample.read_text()).splitlines()


def test_seism(tmp_path: Path) -> None:
    small = ["domain=36x16x16", "chunk=18x16x16"]
    program = [*MPIEXEC, "-n", "8", "tailrace-seism", "--input", CLASSIC / "default.in", *small]
    compare("seism.out", printed(*program, cwd=tmp_path))


def test_slab(tmp_path: Path) -> None:
    """The script's four runs."""
    text = printed(
        CLASSIC / "slab.sh", cwd=tmp_path, N1="4000", LAUNCH=" ".join([*MPIEXEC, "-n", "4"])
    )
    compare("slab.out", text)
    lines = (tmp_path / "slab" / "results.jsonl").read_text().splitlines()
    runs = [json.loads(line)["configuration"] for line in lines]
    assert [(one["collective_write"], bool(one["hints"])) for one in runs] == [
        (True, False), (False, False), (True, True), (False, True)
    ]  # fmt: skip


def test_particle(tmp_path: Path) -> None:
    """A file of h5bench, as it is."""
    program = [*MPIEXEC, "-n", "4", "tailrace-particle", "--input", CLASSIC / "particle.json"]
    compare("particle.out", printed(*program, cwd=tmp_path))
    assert len(list(tmp_path.glob("rank_*_test.h5"))) == 4


def test_amr(tmp_path: Path) -> None:
    """The batch job, by hand."""
    text = printed(
        CLASSIC / "amr.slurm", cwd=tmp_path, NCELLS="32", INPUTS=str(CLASSIC / "amr.inputs"),
        LAUNCH=" ".join([*MPIEXEC, "-n", "4"]),
    )  # fmt: skip
    compare("amr.out", text)
    assert sorted(path.name for path in (tmp_path / "amr").iterdir()) == [
        "plt00000", "plt00000.nc", "results.jsonl"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["gaussian.in", "mpi_rank_fill.in", "check-slice.in"])
def test_the_other_inputs_are_taken(tmp_path: Path, name: str) -> None:
    words = ["--dry-run", "--input", CLASSIC / name]
    plugins = Path(os.environ["TAILRACE_BUILD_DIR"]) / "lib"
    text = printed("tailrace-seism", *words, cwd=tmp_path, LD_LIBRARY_PATH=str(plugins))
    assert "nothing was written" in text and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("Write:                          1.11868 s", "Write:                          # s"),
        ("dset_1 write: 1e-05 s, 0.3 GB/s (0.2 GiB/s)", "dset_1 write: # s, # GB/s (# GiB/s)"),
        ("Who wrote: 2 of 4 ranks, 3 calls each of 16384 bytes", ""),
        ("Number of time steps:           5", ""),
        ("Write_NCATT_time = 3.9e-06  seconds.", "Write_NCATT_time = #  seconds."),
        ("NCVarPut       1    0.0243    0.0296   3e-07   0.23%", "NCVarPut       1 #"),
        ("MPI-IO:                         OMPIO 4.1.4", "MPI-IO:                         OMPIO #"),
        ("Written besides the data:       8392 bytes (8 KiB)", "Written besides the data: #"),
    ],
)
def test_the_mask_hides_what_it_says_and_no_more(line: str, kept: str) -> None:
    assert masked(line) == (kept or line)
