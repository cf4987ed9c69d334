# SPDX-License-Identifier: Apache-2.0
"""The judgement of bench/: goals, A/A, same pieces, the page. Nothing is measured here."""

from __future__ import annotations

import html
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

root = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(root / "bench"))

import suites  # noqa: E402
from hooks.arms import Calls  # noqa: E402
from kernels.arms import Dd, Piece, Seism  # noqa: E402
from tailrace_bench import judge, measure, page, report  # noqa: E402
from tailrace_bench.cases import CallCase, Case, MemoryCase, RunFailed  # noqa: E402

from kernels import planned  # noqa: E402

piece = Piece((2, 1, 1), (8, 8, 8), 4)


def case(goal: float = 0.9, same_pieces: bool = False) -> Case:
    return Case(
        "hdf5-mpiio",
        "a case",
        "tmpfs",
        Seism(piece, "mpiio"),
        Seism(piece, "hdf5"),
        goal,
        same_pieces,
    )


def run(rate: float, **more: Any) -> dict[str, Any]:
    figures = {
        "durable_bytes_per_s": rate,
        "write_bytes_per_s": 2 * rate,
        "load_1m": 1.0,
        "mpi_io": "OMPIO",
        "hints_in_force": {},
        "collective_actual": False,
        "calls_in_write": [4, 4],
        "bytes_in_write": [100, 100],
    }
    return figures | more


def measured(ratio: float, same: float = 1.0, **more: Any) -> measure.Measured:
    rates = [1e9 * (1 + 0.01 * k) for k in range(10)]
    return {
        "baseline": [run(rate) for rate in rates],
        "same": [run(same * rate) for rate in rates],
        "candidate": [run(ratio * rate, **more) for rate in rates],
        "failures": [],
    }


def test_the_goal_is_judged_by_the_lower_bound() -> None:
    assert judge.judged(case(0.9), measured(0.95))["goal"]["met"] is True
    assert judge.judged(case(0.9), measured(0.85))["goal"]["met"] is False
    noisy = measured(0.95)
    for k, one in enumerate(noisy["candidate"]):
        one["durable_bytes_per_s"] *= 0.8 if k % 2 else 1.2
    result = judge.judged(case(0.9), noisy)
    assert result["median_ratio"] > 0.9 > result["interval"][0]
    assert result["goal"]["met"] is False


def test_a_goal_for_the_write_calls_alone_must_be_met_too() -> None:
    both = replace(case(1.3), write_goal=2.0)
    fast = measured(1.5)
    assert judge.judged(both, fast)["goal"]["met"] is False  # writes are 1.5 times as fast too
    for one in fast["candidate"]:
        one["write_bytes_per_s"] *= 1.5
    found = judge.judged(both, fast)
    assert found["goal"]["met"] is True and found["goal"]["write_bound"] == 2.0
    assert "goal 2.0" in judge.line(found)


def test_within_noise_is_no_fall_and_no_wide_interval() -> None:
    held = replace(case(1.0), no_fall=True)
    assert judge.judged(held, measured(0.99))["goal"]["met"] is False  # a narrow interval below
    assert judge.judged(held, measured(1.05))["goal"]["met"] is True
    near = measured(1.0)
    for k, one in enumerate(near["candidate"]):
        one["durable_bytes_per_s"] *= 0.97 if k % 2 else 1.02
    found = judge.judged(held, near)
    assert found["interval"][0] < 1.0 and found["goal"]["met"] is True
    assert judge.judged(case(1.0), near)["goal"]["met"] is False
    for k, one in enumerate(near["candidate"]):
        one["durable_bytes_per_s"] *= 0.8 if k % 2 else 1.2
    wide = judge.judged(held, near)
    assert wide["goal"]["met"] is None and "too wide" in judge.line(wide)


def test_a_plan_of_the_bench_holds_in_any_folder() -> None:
    entries = [
        {"file": "/tmp/x/rank_[0-9]*_out.part", "dataset": "", "settings": []},
        {"file": "/tmp/x/out.part", "dataset": "/a/b", "settings": []},
    ]
    found = planned.by_name({"hash": "0", "entries": entries, "origin": {}})
    assert [one["file"] for one in found["entries"]] == ["rank_[0-9]*_out.part", "out.part"]
    assert found["entries"][1]["dataset"] == "/a/b" and "hash" not in found
    with pytest.raises(RunFailed, match="sets nothing"):
        planned.by_name({"entries": []})
    assert planned.by_name({"hash": "0", "origin": {}}, may_be_empty=True) == {"origin": {}}
    assert planned.applied('{"lines": []}') == {"plan": {}}


def test_a_run_without_its_plan_is_no_run() -> None:
    line = {"setting": "meta_block_bytes", "became": "applied"}
    text = json.dumps({"lines": [line, {"setting": "chunk", "became": "kept"}]})
    assert planned.applied(text)["plan"] == {"meta_block_bytes": "applied", "chunk": "kept"}
    with pytest.raises(RunFailed, match="not met"):
        planned.applied(json.dumps({"lines": [line | {"became": "not met"}]}))


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_cases_with_a_plan_are_those_of_the_examples(ranks: int) -> None:
    cases = suites.all_cases(SimpleNamespace(romio="romio321"), ranks, ["plan"])
    assert len(cases) == len({one.name for one in cases}) == 8
    for one in cases:
        assert one.no_fall and one.goal == 1.0
        assert one.candidate == replace(one.baseline, planned=True)
        assert (planned.examples / f"{one.baseline.example}.json").is_file()
        words = dict(word.split("=") for word in one.baseline.words)
        if "block_cnt" in words:  # the last block ends within dim_1
            assert 512 * (int(words["block_cnt"]) - 1) + 256 <= int(words["dim_1"])


@pytest.mark.parametrize(("cost_us", "met"), [(0.3, True), (0.49, False), (0.6, False)])
def test_a_cost_per_call_is_judged_by_the_upper_bound(cost_us: float, met: bool) -> None:
    arm = Calls(("write", "10"), "none")
    asked = CallCase("hooks-cost", "a call", "tmpfs", arm, arm, 0.5)
    base = [2 + 0.01 * k for k in range(10)]
    noise = [0.03 if k % 2 else -0.03 for k in range(10)]
    runs = {
        "baseline": [{"us_per_call": one, "load_1m": 0.5} for one in base],
        "same": [{"us_per_call": one, "load_1m": 0.5} for one in base],
        "candidate": [
            {"us_per_call": one + cost_us + off, "load_1m": 0.5}
            for one, off in zip(base, noise, strict=True)
        ],
    }
    found = judge.judged(asked, {**runs, "failures": []})
    assert found["goal"]["met"] is met, found["us_per_call"]
    assert found["us_per_call"]["same"] == 0 and "per call, goal 0.5" in judge.line(found)
    few = {name: some[:5] for name, some in runs.items()}
    assert judge.judged(asked, {**few, "failures": []})["goal"]["met"] is None


def test_rates_of_other_things_than_bytes() -> None:
    found = measured(1.0)
    for runs in found.values():
        for one in runs:
            one["per_s"] = one.pop("durable_bytes_per_s") / 1e8
            del one["write_bytes_per_s"]
    result = judge.judged(replace(case(0.95), unit="1/s"), found)
    assert result["goal"]["met"] is True and result["unit"] == "1/s"
    assert "10 10.45 10.9 1/s" in page._ratio_row(result)


def test_where_a_differs_from_a_nothing_is_judged() -> None:
    result = judge.judged(case(), measured(2.0, same=1.2))
    assert result["goal"]["met"] is None
    assert "A differs from A" in judge.line(result)


def test_arms_that_did_other_things_are_not_compared() -> None:
    good = judge.judged(case(same_pieces=True), measured(1.0))
    assert good["goal"]["met"] is True
    for more in (
        {"calls_in_write": [8, 8]},
        {"bytes_in_write": [200, 0]},
        {"mpi_io": "ROMIO"},
    ):
        result = judge.judged(case(same_pieces=True), measured(1.0, **more))
        assert result["goal"]["met"] is None, more
    hints = judge.judged(case(same_pieces=True), measured(1.0, hints_in_force={"cb_nodes": "1"}))
    assert hints["pieces"]["different_hints"] == {"cb_nodes": [None, "1"]}


def test_too_few_rounds_are_no_result() -> None:
    few = {arm: runs[:5] for arm, runs in measured(1.0).items()}
    result = judge.judged(case(), few)
    assert result["goal"]["met"] is None
    assert "too few" in judge.line(result)


def test_memory_is_held_against_data_and_64_mib() -> None:
    mib = 1 << 20
    arm = MemoryCase("memory", "m", "tmpfs", Seism(piece, "posix"))
    assert arm.limit_bytes(100 * mib) == 174 * mib
    for peak, met in ((174 * mib, True), (174 * mib + 1, False)):
        memory = {"peak_above_init_bytes_max": peak, "data_bytes_max": 100 * mib}
        figures = {"candidate": [{"memory": memory}], "failures": []}
        assert judge.judged(arm, figures)["goal"]["met"] is met


def test_arms_run_in_random_order_and_a_failed_round_counts_for_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    order = []

    def one(arm: Seism | Dd, where: str, machine: Any) -> dict[str, Any]:
        order.append(arm.format)
        if len(order) == 5:
            raise RunFailed("broken")
        return run(1.0)

    monkeypatch.setattr(measure, "_one", one)
    result = measure.run_case(case(), SimpleNamespace(), 6, seed=1)
    assert [len(result[arm]) for arm in ("baseline", "same", "candidate")] == [6, 6, 6]
    assert len(result["failures"]) == 1
    assert len(order) == 21
    rounds = {tuple(order[k : k + 3]) for k in range(0, 21, 3)}
    assert len(rounds) > 1


def test_what_was_measured_stays_where_a_session_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import run as command  # bench/run.py

    found = [measured(1.0)]

    def ended_in_the_second(*_: Any) -> measure.Measured:
        if not found:
            raise KeyboardInterrupt
        return found.pop()

    monkeypatch.setattr(command, "run_case", ended_in_the_second)
    monkeypatch.setattr(command.suites, "all_cases", lambda *_: [case(), case()])
    monkeypatch.setattr(command.machine, "Machine", lambda *_: SimpleNamespace(context=dict))
    words = ["--build", str(tmp_path), "--results", str(tmp_path / "results")]
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    with pytest.raises(KeyboardInterrupt):
        command.main()
    [file] = (tmp_path / "results").iterdir()
    assert [kept["name"] for kept in json.loads(file.read_text())["cases"]] == ["a case"]


def test_dd_writes_what_a_rank_writes() -> None:
    words = Dd(piece, shared=True)._command(Path("/x"), 1)
    assert {"of=/x/out", "bs=2048", "count=4", "seek=4", "conv=notrunc,fsync"} <= set(words)
    words = Dd(piece, shared=False)._command(Path("/x"), 1)
    assert {"of=/x/out.1", "seek=0"} <= set(words)


def test_a_goal_wants_two_sessions(tmp_path: Path) -> None:
    file = tmp_path / "docs/developer/benchmarks.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"before\n{page.begin}\nthe old table\n{page.end}\nafter\n", encoding="utf-8")
    results = tmp_path / "results"
    results.mkdir()
    context = {
        "cores": 2,
        "os_kernel": "6",
        "mpi": "openmpi",
        "hdf5": "2.2.0",
        "build_type": "Release",
        "commit": "c",
        "load_1m": 0.5,
    }
    missed = "met in 2 sessions, missed in the newest"
    for number, words, ratio in ((1, "met once", 1), (2, "**met**", 1), (3, missed, 0.5)):
        session = {
            "session": f"s{number}",
            "context": context,
            "settings": {"ranks": 4, "pairs": 10, "nice": 0},
            "cases": [judge.judged(case(), measured(ratio))],
        }
        (results / f"{number}.json").write_text(json.dumps(session), encoding="utf-8")
        page.write(tmp_path, results)
        text = file.read_text(encoding="utf-8")
        assert words in text
        assert "the old table" not in text
        assert text.startswith("before\n") and text.endswith("\nafter\n")


def sessions_of(*ratios: float, **more: Any) -> list[dict[str, Any]]:
    """Noisy ones: pairs are up to 14 per cent off."""
    sessions = []
    for ratio in ratios:
        found = measured(ratio, **more)
        for k, one in enumerate(found["candidate"]):
            one["durable_bytes_per_s"] *= 1 + 0.03 * (k - 4.5)
        sessions.append({"cases": [judge.judged(case(0.95), found)]})
    return sessions


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ((1.0,), "not shown: the median meets it"),
        ((0.97, 0.97), "not shown: the median meets it"),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 1.0), "met by all pairs together |"),
        ((1.2, 0.99), "met by all pairs together, and in one session"),
        ((0.9, 0.9), "not met"),
        ((1.2, 1.2), "**met**"),
    ],
)
def test_all_pairs_together_say_more_than_one_session(
    ratios: tuple[float, ...], words: str
) -> None:
    text = page._goals(sessions_of(*ratios))
    assert words in text, text
    assert (f"{10 * len(ratios)} pairs" in text) == (len(ratios) > 1)


def test_only_what_was_measured_alike_is_put_together() -> None:
    few, many = sessions_of(1.0), sessions_of(1.0, all_durable_s=[1.0] * 9)
    assert "| - |" in page._goals(few + many)
    assert "20 pairs" in page._goals(few + many + many)


def test_committed_results_are_valid() -> None:
    schema = json.loads((root / "schemas/bench-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    files = sorted((root / "bench/results").glob("*.json"))
    assert files
    for file in files:
        session = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(session)


def test_the_report_has_every_case_and_what_was_missed(tmp_path: Path) -> None:
    sessions = report.sessions_in(root / "bench/results")
    file = tmp_path / "report.html"
    report.write(sessions, file)
    text = html.unescape(file.read_text(encoding="utf-8"))
    for session in sessions:
        assert f"Session {session['session']}" in text
        for one in session["cases"]:
            assert one["name"] in text
            if one["goal"]["met"] is not True:
                assert f"{one['name']}: {judge.verdict(one['goal'])}." in text
    report.write(sessions[:1], file)
    assert f"Session {sessions[-1]['session']}" not in file.read_text(encoding="utf-8")


def test_the_report_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    file = tmp_path / "thesis.html"
    file.write_text("precious")
    with pytest.raises(Exception, match="is no report of tailrace"):
        report.write(report.sessions_in(root / "bench/results"), file)
    assert file.read_text() == "precious"
