# SPDX-License-Identifier: Apache-2.0
"""Ranks declare alike, or the plan is off for the file: settings must not differ between them."""

from __future__ import annotations

from pathlib import Path

import declaring  # noqa: F401  (the helpers of the hooks are found then)
import pytest
from declaring import BUILD, declared_of, file_of, profiled, tailrace
from mpi_programs import MPIEXEC, SANITIZERS
from plans import entry, setting, write_plan

PROGRAM = BUILD / "tests" / "bin" / "declare_ranks"


@pytest.mark.parametrize(
    ("declaring_ranks", "became", "evictions"),
    [(0, "applied", 0), (1, "disagreed", 1), (2, "held", 1)],
)
def test_all_ranks_or_none(
    tmp_path: Path, declaring_ranks: int, became: str, evictions: int
) -> None:
    plan = write_plan(tmp_path, entry("out.h5", setting("7", "metadata_cache_evictions", False)))
    ran = tailrace(
        "apply", plan, "--json", "--", *MPIEXEC, "-n", "2", PROGRAM, str(declaring_ranks), "out.h5",
        cwd=tmp_path, **SANITIZERS,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"declared: 0, evictions: {evictions}" in ran.err  # what it prints goes there
    if became == "disagreed":
        assert "the plan is off for this file: the ranks have different plans" in ran.err
    assert became in {line["became"] for line in ran.json["lines"]}


def test_a_profile_tells_who_declared(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "2", PROGRAM, "1", "out.h5", **SANITIZERS)
    assert ran.code == 0, ran.err
    file = file_of(profile, "out.h5")
    assert declared_of(file) == [("property_list", {"reliability": "durable"})]
    assert file["declared"][0]["processes"] == "0"
