# SPDX-License-Identifier: Apache-2.0
"""Open MPI's two implementations of MPI-IO as a lever: which of its numbers a search tries, that
the other one is there, and that data that OMPIO loses now and then is not a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_runs import Program, jitter, kept, tuned
from plans import because, plan

from tailrace.intent.apply import Line, without_collective
from tailrace.intent.apply import variables as variables_of
from tailrace.intent.record import with_environment
from tailrace.sandbox.supervision import Outcome
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


def test_a_search_tries_numbers_of_both_implementations() -> None:
    found = {one.name: one.plan for one in around(PLAN)}
    assert list(found) == [
        "rule 77, OMPIO: 2 aggregators",
        "rule 77, OMPIO: 4 aggregators",
        "rule 77, ROMIO: 2 aggregators",
        "rule 77, ROMIO: 4 aggregators",
        "rule 77, ROMIO: cb_buffer_size 33554432",
        "rule 77, ROMIO: cb_buffer_size 8388608",
        "rule 77, ROMIO: no collective buffering",
    ]
    several = found["rule 77, OMPIO: 4 aggregators"]
    assert of_environment(several) == {"OMPI_MCA_io_ompio_num_aggregators": "4"}
    romio = found["rule 77, ROMIO: 2 aggregators"]
    assert of_environment(romio) == {"OMPI_MCA_io": "^ompio"}
    assert hints(romio) == {"cb_nodes": "2", "cb_config_list": "*:2"}
    assert {rule.kind for rule in rules_of(romio)} == {"collective"}


def test_it_goes_on_from_the_better_number() -> None:
    several = plan(environment=[variable(mpi_io.aggregators, "2", ranks=8)])
    assert [one.name for one in around(several)] == [
        "rule 77, OMPIO: 1 aggregators",
        "rule 77, OMPIO: 4 aggregators",
    ]
    (larger,) = (one.plan for one in around(PLAN) if one.name.endswith("33554432"))
    names = [one.name for one in around(larger)]
    assert "rule 77, hint.cb_buffer_size: 67108864" in names
    assert not any("ROMIO: cb_buffer_size" in name for name in names)
    one, *_ = (one.plan for one in around(larger) if "OMPIO: 2" in one.name)
    assert hints(one) == {}, "hints of ROMIO go with it"


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


class Loses(Program):
    """Fast with several aggregators of OMPIO; data is lost in each second run of those."""

    several = 0

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        is_several = mpi_io.aggregators in of_environment(plan or {"environment": []})
        outcome, printed, lines = super().run(name, plan)
        if not is_several:
            return outcome, printed, lines
        self.several += 1
        faster = Outcome(0, outcome.elapsed_s / 2)
        return faster, b"sum 2\n" if self.several % 2 else printed, lines


def test_data_that_is_lost_now_and_then_is_no_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Loses(lambda rules: 0.7 if rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch, ranks=4, search_minutes=1000)
    assert program.several > 0, "it was tried"
    assert kept(found) == ["77"]
    assert found.candidate is not None
    assert of_environment(found.candidate.plan) == {"OMPI_MCA_io": "^ompio"}
    assert not found.changes


class Whole(Loses):
    """The same, and nothing is lost."""

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        outcome, _, lines = super().run(name, plan)
        return outcome, b"sum 3\n", lines


def test_several_aggregators_are_proven_by_more_than_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Whole(lambda rules: 0.7 if rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch, ranks=4, search_minutes=1000)
    assert found.candidate is not None
    assert mpi_io.aggregators in of_environment(found.candidate.plan)
    proofs = [name for name, _ in program.runs if "-content" in name]
    assert len(proofs) >= 8
    assert any("has been seen to lose data" in note for note in found.notes)
