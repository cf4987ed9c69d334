# SPDX-License-Identifier: Apache-2.0
"""Comparisons of Records with known figures: verdicts, pairs, what differs, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import a_record, a_run, written
from tailrace_cli import SOURCE, called, tailrace

from tailrace.compare.analysis import Analysis, analyse
from tailrace.errors import TailraceError
from tailrace.results import Selection

STEADY = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0]
SHARED: dict[str, Any] = {"collective_write": True}


def analysis(a: Path | str, b: Path | str, metric: str = "durable") -> Analysis:
    return analyse(Selection.parse(str(a)), Selection.parse(str(b)), metric)


def two(folder: Path, a: list[Any], b: list[Any]) -> tuple[Path, Path]:
    return written(folder / "a.jsonl", a), written(folder / "b.jsonl", b)


def scaled(factor: float) -> list[float]:
    return [factor * time for time in STEADY]


def later(records: list[dict[str, Any]], minutes: int) -> list[dict[str, Any]]:
    """The same, started so much later."""
    for record in records:
        record["started"] = record["started"].replace("T00:", f"T{minutes:02}:")
    return records


def test_runs_one_after_the_other_never_exclude_drift(tmp_path: Path) -> None:
    found = analysis(*two(tmp_path, a_run(STEADY), later(a_run(scaled(0.8), "b"), 1)))
    assert found.comparison.verdict == "faster_or_drift" and found.pairs is None
    assert found.comparison.ratio == pytest.approx(1.25)
    assert found.verdict[0] == (
        "B was faster, or the machine drifted: durable rate +25.0 % (6 and 6 repetitions)"
    )
    assert "machine drift is not excluded" in found.verdict[1]
    assert found.notes == ["A: 1 warm-up left out", "B: 1 warm-up left out"]


def test_equal_runs_do_not_differ(tmp_path: Path) -> None:
    found = analysis(*two(tmp_path, a_run(STEADY), later(a_run(reversed(STEADY), "b"), 1)))
    assert found.comparison.verdict == "no_difference_beyond_noise"
    assert found.verdict[0].startswith("no difference beyond noise")
    assert found.phases == [] and found.writers == [] and found.configuration == []


def test_few_repetitions_have_no_verdict(tmp_path: Path) -> None:
    found = analysis(*two(tmp_path, a_run([1.0, 1.0, 1.1]), later(a_run([0.2, 0.3, 0.2], "b"), 1)))
    assert found.comparison.verdict == "no_verdict"
    assert "too few repetitions for a verdict: 3 and 3" in found.verdict[0]


def in_turns(order: str, factor: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Runs of one repetition each, started in that order; the machine drifts by 5 % a run."""
    sides: dict[str, list[dict[str, Any]]] = {"A": [], "B": []}
    for number, side in enumerate(order):
        time = 1.05**number * (factor if side == "B" else 1)
        sides[side].append(
            a_record(durable_s=time, run=f"{side}{number}",
                     started=f"2026-01-01T00:{number:02}:00{'.5' * (number % 2)}Z")
        )  # fmt: skip
    return sides["A"], sides["B"]


def test_alternating_runs_are_pairs(tmp_path: Path) -> None:
    found = analysis(*two(tmp_path, *in_turns("ABBAABABABBA", 0.5)))
    assert found.pairs is not None and found.pairs.how == "alternation"
    assert found.comparison.verdict == "faster" and found.comparison.pairs == 6
    assert found.comparison.ratio == pytest.approx(2, rel=0.06)
    assert found.verdict == ["B is faster: durable rate +90.5 % (6 pairs)"]
    slower = analysis(*two(tmp_path, *in_turns("ABABABABABAB", 2.0)))
    assert slower.comparison.verdict == "slower"
    few = analysis(*two(tmp_path, *in_turns("ABAB", 0.5)))
    assert "no verdict yet" in few.verdict[0] and "6, 10, 16 pairs" in few.verdict[0]


@pytest.mark.parametrize("order", ["AABB", "AAABBB", "ABABA", "ABBBAA"])
def test_other_orders_are_no_pairs(tmp_path: Path, order: str) -> None:
    found = analysis(*two(tmp_path, *in_turns(order, 0.5)))
    assert found.pairs is None and not found.comparison.interleaved


def test_a_failed_repetition_drops_its_pair_only(tmp_path: Path) -> None:
    a, b = in_turns("ABABABAB", 0.5)
    b[1] = a_record(run="B3", started=b[1]["started"], failed=True)
    found = analysis(*two(tmp_path, a, b))
    assert found.pairs is not None and len(found.pairs.a) == 3 and found.pairs.dropped == 1
    assert any("1 failed repetition left out" in note and "no_space" in note
               for note in found.notes)  # fmt: skip


def rounds(b_factor: float, a2_factor: float, count: int = 6) -> list[dict[str, Any]]:
    """As `compare --run` stores them: A against A, then A against B, each round with a drift."""
    factors = {"A1": 1.0, "A2": a2_factor, "A": 1.0, "B": b_factor}
    records = []
    for names in (("A1", "A2"), ("A", "B")):
        for number in range(count + 1):
            for name in names:
                if number == 0 and name in {"A1", "A2"}:
                    continue
                time = 1.3**number * factors[name] * (1 + 0.001 * number)
                records.append(
                    a_record(durable_s=time, run=f"{name}{number}", warm_up=number == 0,
                             configuration=SHARED if name == "B" else {},
                             arm={"comparison": "x", "name": name, "round": number})
                )  # fmt: skip
    return records


def test_rounds_of_a_comparison_are_pairs_and_a_again_is_asked_first(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", rounds(0.5, 1.0))
    found = analysis(f"{file}::arm=A", f"{file}::arm=B")
    assert found.pairs is not None and found.pairs.how == "rounds"
    assert found.comparison.verdict == "faster" and found.comparison.pairs == 6
    assert found.same is not None and found.same.ratio == 1.0
    drifting = written(tmp_path / "d.jsonl", rounds(0.5, 0.7))
    found = analysis(f"{drifting}::arm=A", f"{drifting}::arm=B")
    assert found.comparison.verdict == "no_verdict" and "A differs from A" in found.verdict[0]


def test_phases_writers_settings_and_context_that_differ(tmp_path: Path) -> None:
    b = later(
        a_run(STEADY, "b", configuration=SHARED, context={"commit": "ffff", "load_1m": 3.0}), 1
    )
    for record in b:
        record["phases"]["write"] = {"min_s": 2.0, "mean_s": 2.5, "max_s": 3.0, "entries": 1}
        record["writers"]["ranks_that_wrote"] = 1
        record["transfers"]["mode"] = "collective"
        record["mpi_io"]["hints_in_force"] = {"cb_nodes": "1"}
    found = analysis(*two(tmp_path, a_run(STEADY), b))
    first = found.phases[0]
    assert (first.name, first.b_s, first.apart) == ("write", 2.5, True)
    assert first.difference_s == pytest.approx(2.0)
    assert [vars(one) for one in found.writers] == [{"key": "ranks that wrote", "a": "4", "b": "1"}]
    assert [(one.key, one.a, one.b) for one in found.configuration] == [
        ("collective_write", "false", "true")
    ]
    assert {one.key for one in found.in_force} == {"transfers", "hint cb_nodes"}
    assert {one.key for one in found.context} == {"commit", "load over one minute"}


def test_the_metric_chooses_the_rate(tmp_path: Path) -> None:
    b = later(a_run(STEADY, "b"), 1)
    for record in b:
        record["rates"]["write_bytes_per_s"] *= 3
    files = two(tmp_path, a_run(STEADY), b)
    assert analysis(*files).comparison.ratio == 1
    assert analysis(*files, metric="write").comparison.verdict == "faster_or_drift"


def refused(a: Path | str, b: Path | str) -> str:
    with pytest.raises(TailraceError) as caught:
        analysis(a, b)
    return caught.value.text()


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    a, b = two(tmp_path, a_run(STEADY), [a_record(kernel="slab")])
    assert "A is of the kernel seism, B of slab" in refused(a, b)
    both = written(tmp_path / "both.jsonl", [a_record(), a_record(kernel="slab")])
    assert "several kernels: seism, slab" in refused(a, both)
    assert "are the same Records" in refused(a, a)
    assert "share 1 Records" in refused(a, f"{a}::repetition=3")
    only = written(tmp_path / "w.jsonl", [a_record(warm_up=True), a_record(failed=True)])
    text = refused(a, only)
    assert "no repetition is left on side B after the warm-up: of 2 Records 1 warm-up, 1" in text
    unrated = a_record(rates=dict.fromkeys(a_record()["rates"]))
    text = refused(a, written(tmp_path / "u.jsonl", [unrated]))
    assert "1 without a durable rate" in text and "--metric" in text
    mixed = written(tmp_path / "m.jsonl", [a_record(), a_record(configuration=SHARED)])
    text = refused(mixed, a)
    assert "side A holds 2 settings" in text and "m.jsonl::collective_write=false" in text
    assert 'Did you mean "hdf5"' in refused(a, f"{b}::format=hdf")
    newer = written(tmp_path / "n.jsonl", [a_record() | {"schema": "tailrace-record/2"}])
    assert "written by a newer tailrace" in refused(a, newer)


def test_times_without_a_zone_are_utc(tmp_path: Path) -> None:
    bare = [one | {"started": one["started"][:19]} for one in later(a_run(STEADY), 5)]
    assert analysis(*two(tmp_path, a_run(STEADY), bare)).pairs is None


@pytest.mark.parametrize("rate", [0.0, -5.0])
def test_a_rate_that_is_none_is_told_with_its_place(tmp_path: Path, rate: float) -> None:
    a, b = two(tmp_path, a_run(STEADY), a_run(STEADY, "other"))
    lines = [json.loads(line) for line in b.read_text().splitlines()]
    lines[3]["rates"]["durable_bytes_per_s"] = rate
    text = refused(a, written(b, lines))
    assert f"{b}:4" in text and f"the durable rate of a Record is {rate:g}" in text


def test_damaged_lines_are_counted_once(tmp_path: Path) -> None:
    lines = [*a_run(STEADY), "", *later(a_run(STEADY, "b", configuration=SHARED), 1), '{"schema"']
    file = written(tmp_path / "r.jsonl", lines)
    found = analysis(f"{file}::collective_write=false", f"{file}::collective_write=true")
    assert found.sides.problems.count == 2
    assert [note for note in found.notes if "left out: " in note] == [
        f"1 empty line is left out: {file}:8",
        f"1 damaged or truncated line is left out: {file}:16",
    ]


def test_the_command_prints_80_columns_and_documents_its_keys(tmp_path: Path) -> None:
    b = later(a_run(scaled(0.8), "b", configuration=SHARED | {"hint": {"a": "x" * 90}}), 1)
    files = two(tmp_path, [*a_run(STEADY), ""], b)
    ran = tailrace("compare", *files).expect(0)  # at 80 columns
    wide = [line for line in ran.out.splitlines() if len(line) > 80]
    assert all("x" * 90 in line or str(tmp_path) in line for line in wide), wide
    assert "or the machine drifted" in " ".join(ran.out.split())
    found = called("compare", *files, "--json").expect(0).json
    page = (SOURCE / "docs" / "user" / "compare.md").read_text()
    keys = {*found, *found["a"], *found["comparison"], *found["phases"][0], *found["left_out"][0]}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []
    assert json.dumps(found["words"][0]).count("faster") == 1


def test_a_metric_that_is_none(tmp_path: Path) -> None:
    files = two(tmp_path, a_run(STEADY), a_run(STEADY, "b"))
    ran = called("compare", *files, "--metric", "durabel").expect(2)
    assert 'Did you mean "durable"?' in ran.err
