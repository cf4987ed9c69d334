# SPDX-License-Identifier: Apache-2.0
"""Collective settings are for the run that was proven: what counts as another one, and is said."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from plans import Json, entry, prove, setting, write_plan
from profiled import script
from tailrace_cli import tailrace

from tailrace.errors import TailraceError
from tailrace.intent import advice, proof

PROGRAM = """
import h5py, sys
numbers = list(map(int, open(sys.argv[1]).read().split()))
with h5py.File(sys.argv[2], "w") as f: f.create_dataset("x", data=numbers)
"""


@pytest.fixture
def proven(tmp_path: Path) -> tuple[Path, list[str]]:
    """A plan with a proof, and the command."""
    plan = write_plan(
        tmp_path, entry("*.h5", setting("25", "write_mode", "collective", "collective"),
                        dataset="/x"),
    )  # fmt: skip
    (tmp_path / "input.txt").write_text("1 2 3")
    command = [*script(tmp_path, PROGRAM), tmp_path / "input.txt", tmp_path / "out.h5"]
    words = [str(word) for word in command]
    document = advice.load(plan)
    profile: Json = {"run": {"processes": [{"hdf5_version": h5py.version.hdf5_version}]}}
    document["proof"] = proof.of_run(document, words, proof.files_of(words), profile)
    plan.write_text(json.dumps(document))
    return plan, words


def held(plan: Path, words: list[str], *options: str) -> str:
    """Why the setting was held back."""
    options = options or ("--allow", "collective")
    ran = tailrace("apply", plan, "--json", *options, "--", *words, cwd=plan.parent).expect(0)
    (line,) = ran.json["lines"]
    assert (line["setting"], line["became"]) == ("write_mode", "held")
    return str(line["reason"])


# What the connector says: the setting came through to it.
APPLIED = "only for files opened with MPI-IO"


def test_the_proven_run_once_more(proven: tuple[Path, list[str]]) -> None:
    """What it writes, and names as an argument, is there now and was not: it is no input."""
    plan, words = proven
    prove(plan, *words)
    assert (plan.parent / "out.h5").exists()
    assert held(plan, words) == APPLIED
    document = advice.load(plan)
    names = [Path(one["name"]).name for one in document["proof"]["files"]]
    assert names[:3] == [Path(sys.executable).name, "script.py", "input.txt"]
    assert any(name.startswith("libc.so") for name in names[3:])
    assert all(".so" in name for name in names[3:])
    assert document["proof"]["hdf5_version"].count(".") == 2
    assert proof.environment(document)["TAILRACE_PROVEN"].startswith(
        document["proof"]["hdf5_version"]
    )


def test_it_takes_the_word_of_the_user_too(proven: tuple[Path, list[str]]) -> None:
    plan, words = proven
    assert "it needs --allow collective" in held(plan, words, "--quiet")
    document = advice.load(plan)
    del document["proof"]
    plan.write_text(json.dumps(document))
    assert held(plan, words) == "collective: the plan has no proof of a run with it"
    ran = tailrace("env", plan, cwd=plan.parent).expect(0)
    assert ran.out == ""
    assert "1 settings are not for the environment" in ran.err


def test_a_variable_is_held_back_where_the_ranks_are_not_seen(
    proven: tuple[Path, list[str]],
) -> None:
    plan, words = proven
    document = advice.load(plan)
    del document["proof"], document["hash"]
    because = document["entries"][0]["settings"][0]["because"]
    variable = {"name": "OMPI_MCA_io", "value": "^ompio", "class": "collective"}
    plan.write_text(json.dumps({**document, "environment": [{**variable, "because": because}]}))
    prove(plan, *words)
    ran = tailrace("apply", plan, "--json", "--allow", "collective", "--", *words, cwd=plan.parent)
    (line,) = [one for one in ran.expect(0).json["lines"] if one["setting"] == "OMPI_MCA_io"]
    assert line["became"] == "held"
    assert "nothing tells how many ranks the run will have" in line["reason"]


def other_input(folder: Path, _: list[str]) -> None:
    (folder / "input.txt").write_text("1 2 4")


def longer_input(folder: Path, _: list[str]) -> None:
    (folder / "input.txt").write_text("1 2 3 4")


def other_build(folder: Path, _: list[str]) -> None:
    (folder / "script.py").write_text(PROGRAM + "# built anew")


def other_argument(folder: Path, words: list[str]) -> None:
    (folder / "input.txt").rename(folder / "other.txt")
    words[2] = str(folder / "other.txt")


def one_more(_: Path, words: list[str]) -> None:
    words.append("more")


def other_library(folder: Path, _: list[str]) -> None:
    plan = folder / "plan.json"
    document = json.loads(plan.read_text())
    (libc,) = (one for one in document["proof"]["files"] if "/libc.so" in one["name"])
    libc["hash"] = "0" * 32
    plan.write_text(json.dumps(document))


def other_settings(folder: Path, _: list[str]) -> None:
    plan = folder / "plan.json"
    document = json.loads(plan.read_text())
    document["entries"][0]["file"] = "*"
    del document["hash"]
    plan.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_input, "input.txt has been changed"),
        (longer_input, "input.txt has 7 bytes and had 5"),
        (other_build, "script.py has "),
        (other_argument, 'word 3 of the command is "'),
        (other_argument, "input.txt does not exist any more"),
        (one_more, "the command has 5 words and had 4"),
        (other_library, "has been changed"),
        (other_settings, "the settings of the plan have been changed since"),
    ],
)
def test_another_run(
    proven: tuple[Path, list[str]], change: Callable[[Path, list[str]], None], said: str
) -> None:
    plan, words = proven
    assert proof.differences(advice.load(plan), words) == []
    change(plan.parent, words)
    assert said in "; ".join(proof.differences(advice.load(plan), words))


def test_another_environment(
    proven: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes the libraries counts; what tailrace sets itself, and all the rest, does not."""
    plan, words = proven
    monkeypatch.setenv("HDF5_VOL_CONNECTOR", "tailrace")
    monkeypatch.setenv("SOME_VARIABLE", "1")
    assert proof.differences(advice.load(plan), words) == []
    monkeypatch.setenv("OMPI_MCA_io", "romio321")
    (said,) = proof.differences(advice.load(plan), words)
    assert said == 'OMPI_MCA_io is "romio321" and was not set'


def test_another_run_is_told_from_the_proven_one(proven: tuple[Path, list[str]]) -> None:
    """The files by the launcher, HDF5 by the connector."""
    plan, words = proven
    document = json.loads(plan.read_text())
    document["proof"]["hdf5_version"] = "1.14.9"
    plan.write_text(json.dumps(document))
    assert held(plan, words) == "this HDF5 or MPI is not that of the proven run"
    longer_input(plan.parent, words)
    assert held(plan, words).startswith("collective: not the proven run: ")


def test_very_large_inputs_are_known_by_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setattr(proof, "_most_hashed_bytes", 4)
    large = tmp_path / "large"
    large.write_text("12345")
    (state,) = proof.files_of([f"in={large}"])
    assert "hash" not in state
    plan: Json = {"hash": "h", "proof": {"plan": "h", "argv": [f"in={large}"], "files": [state]}}
    assert proof.differences(plan, [f"in={large}"]) == []
    os.utime(large, ns=(1, 1))
    assert proof.differences(plan, [f"in={large}"]) == [f"in={large} has been changed"]


def test_several_libraries_prove_nothing() -> None:
    processes: list[dict[str, Any]] = [{"hdf5_version": "2.0.0"}, {"hdf5_version": "1.14.6"}]
    with pytest.raises(TailraceError, match=r"several libraries: 1\.14\.6, 2\.0\.0"):
        proof.of_run({"hash": "h"}, ["p"], [], {"run": {"processes": processes}})


def test_words_that_are_not_utf_8_prove_nothing() -> None:
    """A plan with them could not be read again."""
    words = ["p", os.fsdecode(b"\xff.h5")]
    with pytest.raises(TailraceError, match=r"\\xff\.h5 is not UTF-8"):
        proof.of_run({"hash": "h"}, words, [], {"run": {"processes": []}})
