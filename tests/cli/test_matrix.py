# SPDX-License-Identifier: Apache-2.0
"""`tailrace run slab --matrix`: the table, and explanations that name what was counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mpi_programs import mpi_components, need_both_mpi_io
from tailrace_cli import Ran, tailrace

pytestmark = pytest.mark.mpi
DEFAULT, OFF = "default hints", "buffering and sieving off"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    """The whole matrix once, with its JSON; and the same gone on with, as text: nothing is run."""
    folder = tmp_path_factory.mktemp("matrix")
    words = ("run", "slab", "--matrix", "--ranks", "3", "n1=1000", "n2=6", "repeat=1")
    found = tailrace(*words, "--json", cwd=folder, timeout=280).expect(0)
    text = tailrace(*words, "--resume", cwd=folder, timeout=120).expect(0)
    return found, text


def cell(found: Ran, mpi_io: str, mode: str, axis: str, hints: str) -> dict[str, Any]:
    cells = [
        one for one in found.json["matrix"]
        if mpi_io in one["mpi_io"]
        and (one["mode"], one["axis"], one["hints"]) == (mode, axis, hints)
    ]  # fmt: skip
    assert len(cells) == 1
    return dict(cells[0])


def test_every_cell_that_can_differ_was_measured(made: tuple[Ran, Ran]) -> None:
    """OMPIO reads none of the hints, so that its cells with them would be the others again."""
    cells, left_out = made[0].json["matrix"], made[0].json["left_out"]
    of_ompio = [one for one in cells if "OMPIO" in one["mpi_io"]]
    assert all(one["hints"] == DEFAULT for one in of_ompio)
    assert len(left_out) == len(of_ompio) == (6 if "ompio" in dict(mpi_components()) else 0)
    assert all("OMPIO reads none of these hints" in str(one) for one in left_out)
    assert len(cells) == len(of_ompio) + 12 * (len(mpi_components()) - bool(of_ompio))
    assert all(len(one["seconds"]) == 1 and one["rate_bytes_per_s"] > 0 for one in cells)


def test_explanations_name_what_was_counted(made: tuple[Ran, Ran]) -> None:
    need_both_mpi_io()
    one = "1 of 3 ranks wrote everything (1 call of 46.9 KiB); at least 31.2 KiB moved"
    assert cell(made[0], "OMPIO", "collective", "long-fast", DEFAULT)["why"].startswith(one)
    assert cell(made[0], "ROMIO", "collective", "long-fast", DEFAULT)["why"].startswith(one)
    all_of_them = "3 of 3 ranks wrote (18 calls of 2.6 KiB); nothing moved"
    assert cell(made[0], "ROMIO", "collective", "long-fast", OFF)["why"] == all_of_them
    small = "3 of 3 ranks wrote (3,000 calls of 16 B); nothing moved"
    assert cell(made[0], "OMPIO", "independent", "short-split", DEFAULT)["why"] == small


def test_where_counts_do_not_separate_it_says_so(made: tuple[Ran, Ran]) -> None:
    """Independent writes are not buffered; collective ones are."""
    need_both_mpi_io()
    pairs = {(one["mpi_io"].split()[0], one["second"]): one for one in made[0].json["pairs"]}
    assert not pairs["ROMIO", f"independent long-fast, {OFF}"]["separated"]
    romio = pairs["ROMIO", f"collective long-fast, {OFF}"]
    assert romio["separated"]
    assert romio["why"][0] == (
        "3 of 3 ranks wrote (18 calls of 2.6 KiB), against 1 of 3 (1 call of 46.9 KiB)"
    )


def test_it_is_printed_in_eighty_columns(made: tuple[Ran, Ran]) -> None:
    text = made[1].out
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "collective long-fast" in text and OFF in text
    assert "the counts do not separate the two" in text
    assert "OMPIO reads none of these hints" in " ".join(text.split())


def test_what_the_matrix_varies_cannot_be_given(tmp_path: Path) -> None:
    ran = tailrace("run", "slab", "--matrix", "axis=long-fast", cwd=tmp_path).expect(2)
    assert '"axis=long-fast": the matrix varies it' in ran.err
    ran = tailrace("run", "seism", "--matrix", cwd=tmp_path).expect(2)
    assert "seism has no matrix" in ran.err
