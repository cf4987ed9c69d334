# SPDX-License-Identifier: Apache-2.0
"""Jobs that a real Slurm takes, runs and refuses."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from private_slurm import FEATURES, Slurm, private_slurm
from tailrace_cli import called, tailrace

SEISM = ["seism", "processor=2x1x1", "domain=16x16x16", "time=2", "fill=position", "verify"]
HELD = "--directive=--hold"  # taken, and never begun


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with private_slurm() as found:
        os.environ |= found.settings
        yield found
        for name in found.settings:
            del os.environ[name]


def submitted(folder: Path, *words: str) -> dict[str, Any]:
    return called("submit", *words, "--run-folder", folder, "--json").expect(0).json


def log(folder: Path, job: str) -> str:
    return (folder / f"slurm-{job}.out").read_text()


def test_jobs_run_and_end_with_the_exit_code_of_the_program(slurm: Slurm, tmp_path: Path) -> None:
    """One in a folder whose name has blanks and quotes, its inputs from a file that is gone when
    it begins; one with an input that the program refuses; one that no launcher starts."""
    folder, bad, lost = tmp_path / 'it\'s a "run" $HOME', tmp_path / "bad", tmp_path / "lost"
    lines = tmp_path / "in put.txt"
    lines.write_text("processor 2 1 1\ndomain 16 16 16\ntime 2\nfilename a b'c.h5\nverify\n")
    words = ["--input", str(lines), "fill=position", "--time", "5"]
    ran = tailrace("submit", "seism", *words, "--constraint", FEATURES.replace(",", "&"), "--json",
                   "--run-folder", folder, **slurm.settings)  # fmt: skip
    good = ran.expect(0).json
    lines.unlink()
    refused = submitted(bad, *SEISM, "colective_write", "--no-check")["job"]
    nothing = submitted(lost, *SEISM, "--launcher", "true")["job"]

    job = slurm.wait_for(good["job"])
    said = log(folder, good["job"])
    assert (job["JobState"], job["ExitCode"]) == ("COMPLETED", "0:0"), said
    assert job["TimeLimit"] == "00:05:00" and job["Features"] == FEATURES.replace(",", "&")
    (record,) = [json.loads(line) for line in Path(good["results"]).read_text().splitlines()]
    assert record["status"] == "ok" and record["context"]["ranks"] == 2
    assert record["kernel"] == "seism" and (folder / "a b'c.h5").is_file()
    assert "hosts: n1" in said and "exit code 0" in said and "slurm" in said
    assert Path(good["file"]).read_text() == good["script"]

    assert slurm.wait_for(refused)["ExitCode"] == "2:0"
    said = log(bad, refused)
    assert 'Did you mean "collective_write"' in said and "exit code 2" in said
    assert slurm.wait_for(nothing)["ExitCode"] == "1:0"
    assert "the exit code is 0, but no Record came" in log(lost, nothing)


@pytest.mark.parametrize(
    "account", ["my account", "it's", 'dou"ble', "back\\slash", "$(touch x) `touch x` #x",
                "x;touch x", "--nodes=7"],
)  # fmt: skip
def test_names_arrive_as_they_are(slurm: Slurm, tmp_path: Path, account: str) -> None:
    """In small letters: Slurm makes them so."""
    job = submitted(tmp_path, *SEISM, f"--account={account}", HELD, "--no-check")["job"]
    assert slurm.said("squeue", "-h", "-j", job, "-o", "%a|%D").strip() == f"{account}|1"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("words", "text", "hint"),
    [
        (["--partition", "paid", "--account", "chemistry"], "Invalid account", "sacctmgr show ass"),
        (["--partition", "pad"], "Invalid partition name", "sinfo --summarize"),
        (["--constraint", "haswell"], "Invalid feature specification", "sinfo --format=%f"),
        (["--nodes", "2", "--ranks-per-node", "1"], "Node count", "fewer --nodes"),
        (["--time", "10-0"], "time limit", "a shorter --time"),
    ],
)
def test_what_slurm_refuses_is_told_with_a_remedy(
    slurm: Slurm, tmp_path: Path, words: list[str], text: str, hint: str
) -> None:
    """A Slurm without a data base of accounts refuses all of them where a partition names its own:
    with the text that a wrong account gets."""
    script = tmp_path / "seism.slurm"
    options = ["--no-check", "--run-folder", str(tmp_path), "--json"]
    error = called("submit", *SEISM, *options, *words).expect(1).json["error"]
    assert text in error["what"] and "sbatch refused the job" in error["what"]
    assert hint in error["hint"] and error["where"] == str(script) and script.is_file()


def test_salloc_understands_the_interactive_line(slurm: Slurm, tmp_path: Path) -> None:
    """Its line, with a command where the shell would be."""
    words = ["--nodes", "1", "--time", "5", "--constraint", FEATURES, "--account", "a b'c"]
    line = called("submit", *SEISM, "--interactive", *words).expect(0).out.strip()
    done = subprocess.run(
        ["sh", "-c", f"{line} squeue -h -o '%a|%D|%l'"], env=slurm.environment, timeout=30,
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "a b'c|1|5:00" in done.stdout.splitlines(), done


def test_the_matrix_of_slab_is_what_run_understands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script's line, with --dry-run behind it."""
    words = ["slab", "--matrix", "n1=1000", "n2=4", "--nodes", "1", "--ranks-per-node", "2"]
    script = called("submit", *words, "--dry-run", "--run-folder", tmp_path).expect(0).out
    (line,) = [line for line in script.splitlines() if " run slab --matrix " in line]
    command = shlex.split(line.partition(" </dev/null")[0])
    assert "start()" not in script and command[-2:] == ["n1=1000", "n2=4"]
    monkeypatch.chdir(tmp_path)
    ran = called(*command[command.index("run") :], "--dry-run").expect(0)
    assert " -n 2 " in ran.out and "n1=1000 n2=4" in ran.out
