# SPDX-License-Identifier: Apache-2.0
"""Dry runs that are made at the same time do not meet in what Open MPI leaves on the disk."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tailrace.run.dry import dry_run

PLACE = "OMPI_MCA_orte_tmpdir_base"


def program(folder: Path, text: str) -> Path:
    made = folder / "program"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("chosen", [False, True])
def test_each_has_a_place_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: bool
) -> None:
    if chosen:
        (tmp_path / "chosen").mkdir()
        monkeypatch.setenv(PLACE, str(tmp_path / "chosen"))
    else:
        monkeypatch.delenv(PLACE, raising=False)
    # A barrier of two: none ends before the other has begun.
    wait = f'touch "{tmp_path}/here.$$"; until [ $(ls {tmp_path}/here.* | wc -l) = 2 ]'
    shown = program(tmp_path, f'{wait}; do sleep 0.01; done; test -d "${PLACE}" && echo "${PLACE}"')
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda ranks: dry_run(shown, [], ranks, {}), (2, 3)))
    assert [one.code for one in said] == [0, 0]
    places = {Path(one.out.strip()) for one in said}
    assert len(places) == 2
    assert not any(place.exists() for place in places)
    above = tmp_path / "chosen" if chosen else Path(os.environ["TMPDIR"])
    assert {place.parent for place in places} == {above}


def test_a_program_that_does_not_say_why_is_quoted(tmp_path: Path) -> None:
    mpi = program(
        tmp_path, "printf -- '-----\\n\\nIt looks like it failed\\nand more\\n' >&2; exit 1"
    )
    assert dry_run(mpi, [], 1, {}).error == (
        "the program ended with exit code 1: It looks like it failed"
    )
    silent = program(tmp_path, "exit 3")
    assert dry_run(silent, [], 1, {}).error == "the program ended with exit code 3"
