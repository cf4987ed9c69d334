# SPDX-License-Identifier: Apache-2.0
"""Open MPI's two implementations of MPI-IO as a lever: which of its numbers a search tries, and
that the other one is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plans import because, plan

from tailrace.intent.apply import variables as variables_of
from tailrace.intent.apply import why_no_variables, without_collective
from tailrace.intent.record import with_environment
from tailrace.run.ranks import ranks_of
from tailrace.tune import mpi_io
from tailrace.tune.rules_of_plan import rules_of
from tailrace.tune.variants import around

Document = dict[str, Any]


def variable(name: str = mpi_io.choice, value: str = "^ompio", ranks: int = 4) -> Document:
    why = {**because("77"), "evidence": [{"name": "file.ranks", "value": ranks, "unit": "ranks"}]}
    return {"name": name, "value": value, "class": "collective", "because": why}


PLAN = plan(environment=[variable()])


def of_environment(of: Document) -> dict[str, str]:
    return {one["name"]: one["value"] for one in of["environment"]}


def hints(of: Document) -> dict[str, str]:
    return {
        one["key"].removeprefix("hint."): one["value"]
        for entry in of["entries"]
        for one in entry["settings"]
    }


def test_a_search_tries_numbers_of_romio_and_never_aggregators_of_ompio() -> None:
    found = {one.name: one.plan for one in around(PLAN)}
    assert list(found) == [
        "rule 77, ROMIO: 2 aggregators",
        "rule 77, ROMIO: 4 aggregators",
        "rule 77, ROMIO: cb_buffer_size 33554432",
        "rule 77, ROMIO: cb_buffer_size 8388608",
        "rule 77, ROMIO: no collective buffering",
    ]
    assert all(of_environment(one) == {"OMPI_MCA_io": "^ompio"} for one in found.values())
    romio = found["rule 77, ROMIO: 2 aggregators"]
    assert hints(romio) == {"cb_nodes": "2", "cb_config_list": "*:2"}
    assert {rule.kind for rule in rules_of(romio)} == {"collective"}
    ompio = plan(environment=[variable("OMPI_MCA_io_ompio_num_aggregators", "1", ranks=8)])
    assert list(around(ompio)) == [], "it loses data of several in some runs"


def test_it_goes_on_from_the_better_number() -> None:
    (larger,) = (one.plan for one in around(PLAN) if one.name.endswith("33554432"))
    names = [one.name for one in around(larger)]
    assert "rule 77, hint.cb_buffer_size: 67108864" in names
    assert not any("ROMIO: cb_buffer_size" in name for name in names)


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (["ompio", "romio321"], ""),
        (["ompio", "romio341"], ""),
        (["ompio"], "this Open MPI has no other MPI-IO than ompio"),
        ([], ""),
    ],
)
def test_the_installation_is_asked(there: list[str], why: str, tmp_path: Path) -> None:
    launcher, info = tmp_path / "mpiexec", tmp_path / "ompi_info"
    launcher.write_text("#!/bin/sh\n")
    lines = [f"mca:io:{name}:param:io_{name}_priority:value:30" for name in there]
    info.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
    for program in (launcher, info):
        program.chmod(0o755)
    assert mpi_io.why_not(PLAN, [str(launcher), "-n", "4", "./model"]) == why
    assert mpi_io.why_not(plan(), [str(launcher)]) == "", "nothing is chosen"


def test_it_takes_a_proof_and_the_launcher_hands_it_on_by_itself() -> None:
    left, (held,) = without_collective(PLAN, "collective: not the proven run")
    assert variables_of(left, {})[0] == {}
    assert (held.rule, held.setting, held.became) == ("77", "OMPI_MCA_io", "held")
    proven, none = without_collective(PLAN, "")
    assert (variables_of(proven, {})[0], none) == ({"OMPI_MCA_io": "^ompio"}, [])
    words = ["mpiexec", "-n", "4", "./model"]
    assert with_environment(words, ["OMPI_MCA_io", "X"], lambda _: "openmpi") == [
        "mpiexec", "-x", "X", "-n", "4", "./model",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("mpiexec -n 4 model -n 8", 4),
        ("mpirun --mca io romio321 --map-by env -x PATH -np 4 model", 4),
        ("srun --ntasks=4 model", 4),
        ("mpiexec -n 3 model : -n 1 other", 4),
        ("mpiexec -n 3 model : other", None),
        ("srun -N 2 model -n 4", 64),
        ("srun --exclusive sh -n 4", 64),
        ("mpiexec model", 64),
        ("mpiexec -genv OMP_NUM_THREADS 4 -n 8 model", 8),
        ("mpirun -host node1:8 model", None),
        ("jsrun -n 4 model", None),
        ("sh -n 4", None),
    ],
)
def test_ranks_are_told_by_the_launcher_or_the_batch_system(words: str, number: int | None) -> None:
    assert ranks_of(words.split(), {"SLURM_NTASKS": "64"}) == number


def test_a_variable_is_for_the_ranks_and_the_mpi_that_were_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No hook could hold it back later, as it can a hint."""
    libmpi = {"name": "/usr/lib/libmpi.so.40", "bytes": 1, "hash": "0"}
    proven = {**PLAN, "proof": {"ranks": 4, "files": [libmpi], "mpi_version": "Open MPI v4.1.4"}}
    words = ["srun", "./model"]

    def why(of: Document = proven) -> str:
        return why_no_variables(of, words)

    assert "nothing tells how many ranks" in why()
    monkeypatch.setenv("SLURM_NTASKS", "64")
    assert why() == "collective: the run has 64 ranks, and the proven one had 4"
    monkeypatch.setenv("SLURM_NTASKS", "4")
    assert why() == ""
    other = {**proven, "proof": {**proven["proof"], "files": []}}
    assert "nothing tells that its MPI is Open MPI v4.1.4" in why(other)
    assert why_no_variables(plan(), words) == "", "there is none"
    left, (held,) = without_collective(proven, "", "why")
    assert (variables_of(left, {})[0], held.reason) == ({}, "why")
