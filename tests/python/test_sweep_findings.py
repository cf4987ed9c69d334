# SPDX-License-Identifier: Apache-2.0
"""What follows from the Records of a sweep whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import MIB, written
from swept import Settings, swept, writers

from tailrace.report.many.sweeps import sweep_figures
from tailrace.report.model import Figure
from tailrace.results import read_results
from tailrace.sweep.data import Case, runs_of
from tailrace.sweep.effects import effects
from tailrace.sweep.findings import Findings, findings, interaction_words
from tailrace.sweep.matrix import Cell, Pair
from tailrace.sweep.ranking import Ratio

FACTORS = {"collective": ["on", "off"], "cb_nodes": ["1", "4"], "chunk": ["8x8x8", "none"]}


def additive(one: Settings) -> float:
    return 0.1 * (1.6 if one["collective"] == "on" else 1) * (1.2 if one["cb_nodes"] == "1" else 1)


def found(folder: Path, records: list[Any]) -> Findings:
    file = written(folder / "results.jsonl", records)
    return findings(runs_of(read_results([file]).records))


def figures_of(folder: Path, records: list[Any]) -> list[Figure]:
    return sweep_figures(read_results([written(folder / "results.jsonl", records)]).records)


def page_of(folder: Path, records: list[Any]) -> str:
    """Words of the figure of two factors."""
    (two,) = [one for one in figures_of(folder, records) if one.name == "sweep-two"]
    return two.note


def test_ranking_and_who_is_not_told_from_the_best(tmp_path: Path) -> None:
    ranked = found(tmp_path, swept(FACTORS, additive)).ranked
    assert [one.place for one in ranked] == list(range(1, 9))
    best = [one.case.name for one in ranked if one.among_best]
    assert sorted(best) == [f"collective=off cb_nodes=4 chunk={c}" for c in ("8x8x8", "none")]
    for one in ranked:
        settings = {s.name: s.value for s in one.case.settings}
        assert one.interval_s is not None
        assert one.interval_s[0] <= one.median_s <= one.interval_s[1]
        assert one.median_s == pytest.approx(additive(settings), rel=0.05)
        assert len(one.case.values) == 8 and one.case.warm_ups == 1
    worst = ranked[-1].against
    assert worst is not None and worst.value == pytest.approx(1.92, rel=0.05)


def test_main_effects_hold_the_truth_also_on_a_machine_that_drifts(tmp_path: Path) -> None:
    """5 % slower from round to round: the last is 1.5 times the first."""
    got = found(tmp_path, swept(FACTORS, additive, drift=0.05))
    by_factor = {one.factor: one for one in got.effects.alone}
    for factor, level, truth in (("collective", "on", 1.6), ("cb_nodes", "1", 1.2)):
        one = by_factor[factor]
        assert (one.level, one.ratio.pairs, len(one.pairs)) == (level, 8, 4)
        assert one.ratio.is_an_effect and one.ratio.interval is not None
        assert one.ratio.interval[0] <= truth <= one.ratio.interval[1]
        assert one.ratio.interval[1] - one.ratio.interval[0] < 0.1
    assert not by_factor["chunk"].ratio.is_an_effect
    assert [one.factor for one in got.effects.alone[:2]] == ["collective", "cb_nodes"]
    assert got.effects.together == []


def test_an_interaction_is_found_where_there_is_one(tmp_path: Path) -> None:
    def truth(one: Settings) -> float:
        both = one["collective"] == "on" and one["cb_nodes"] == "1"
        return additive(one) * (1.5 if both else 1.0)

    together = found(tmp_path, swept(FACTORS, truth)).effects.together
    assert [(one.factor, one.other) for one in together] == [("collective", "cb_nodes")]
    one = together[0]
    assert one.ratio.value == pytest.approx(1.5, rel=0.05)
    assert one.beside_level.value == pytest.approx(2.4, rel=0.05)
    assert one.beside_base.value == pytest.approx(1.6, rel=0.05)
    words = interaction_words(one)
    assert words.startswith("collective=on takes 2.") and "with cb_nodes=4: 1." in words


def test_a_value_that_is_missing_beside_another_hides_no_interaction(tmp_path: Path) -> None:
    """The fastest format knows no collective writes; the others turn round with them."""
    factors = {"collective": ["on", "off"], "format": ["hdf5", "mpiio", "posix"]}
    times = {("on", "hdf5"): 0.065, ("off", "hdf5"): 0.038, ("on", "mpiio"): 0.020,
             ("off", "mpiio"): 0.026, ("off", "posix"): 0.015}  # fmt: skip
    records = [
        record
        for record in swept(factors, lambda one: times.get((one["collective"], one["format"]), 1))
        if "collective=on format=posix" not in record["arm"]["name"]
    ]
    got = found(tmp_path, records)
    (one,) = got.effects.together
    assert {one.factor, one.other} == {"collective", "format"}
    assert {one.level, one.base, one.other_level, one.other_base} == {"on", "off", "hdf5", "mpiio"}
    assert one.ratio.value == pytest.approx((0.065 / 0.038) / (0.020 / 0.026), rel=0.05)
    (alone,) = [effect for effect in got.effects.alone if effect.factor == "collective"]
    assert alone.as_json()["changes_sign"] is True
    text = next(one.text for one in got.explanations if one.text.startswith("collective="))
    assert "is slower and faster: 1.7" in text and "no difference" not in text
    assert "times with format=hdf5, but 0.7" in text and "times with format=mpiio" in text


def test_without_a_difference_little_is_called_one(tmp_path: Path) -> None:
    """Of 25 sweeps with 3 effects and 3 interactions each; noise of 20 %, so that most medians are
    further apart than the bound of an effect."""
    file = tmp_path / "results.jsonl"
    called = 0
    for seed in range(25):
        written(file, swept(FACTORS, lambda _one: 0.1, noise=0.2, seed=seed))
        got = effects(runs_of(read_results([file]).records))
        called += sum(one.ratio.is_an_effect for one in got.alone) + len(got.together)
    assert called <= 14, "5 % of 150 are 7 or 8"


def test_the_page_has_one_ratio_for_a_combination(tmp_path: Path) -> None:
    """Where the machine drifts the ratio of medians is not the median of ratios."""
    square = {"collective": ["on", "off"], "cb_nodes": ["1", "4"]}
    records = swept(square, additive, rounds=6, drift=0.3, noise=0.3)
    got = figures_of(tmp_path, records)
    ranked, two = (next(one for one in got if one.name == f"sweep-{name}")
                   for name in ("ranked", "two"))  # fmt: skip
    here = sorted(row[6] for row in ranked.table.rows)
    assert sorted(cell for row in two.table.rows for cell in row[1:]) == pytest.approx(here)


def test_too_few_rounds_tell_nothing(tmp_path: Path) -> None:
    got = found(tmp_path, swept(FACTORS, additive, rounds=2))
    # Eight figures of two rounds in four pairs are enough for an effect, two of one pair are not.
    assert {one.ratio.pairs for one in got.effects.alone} == {8}
    square = {"collective": ["on", "off"], "cb_nodes": ["1", "4"]}
    # Three rounds: six figures of an effect, and three of what two factors do together.
    got = found(tmp_path, swept(square, additive, rounds=3))
    assert {one.ratio.pairs for one in got.effects.alone} == {6}
    assert got.effects.crossed and not got.effects.told
    text = page_of(tmp_path, swept(square, additive, rounds=3))
    assert "Too few runs to tell whether they do something else together" in text
    assert "No interaction" not in text
    assert found(tmp_path, swept(square, additive, rounds=6)).effects.told == got.effects.crossed
    assert "No interaction beyond noise" in page_of(tmp_path, swept(square, additive, rounds=6))
    two = {"collective": ["on", "off"]}
    got = found(tmp_path, swept(two, lambda one: additive(one | {"cb_nodes": "4"}), rounds=3))
    assert not got.effects.alone[0].ratio.is_an_effect
    assert "in too few runs to tell" in got.explanations[0].headline
    assert [one.among_best for one in got.ranked] == [True, None], "not known"
    (figure,) = [one for one in figures_of(tmp_path, swept(two, lambda _one: 0.1, rounds=3))
                 if one.name == "sweep-effects"]  # fmt: skip
    assert figure.table.rows[0][4:6] == [None, None], "no interval, not one of no width"


def explained(folder: Path, on: dict[str, Any], off: dict[str, Any], slower: float = 1.6) -> str:
    factors = {"collective": ["on", "off"]}
    records = swept(
        factors, lambda one: 0.1 * (slower if one["collective"] == "on" else 1),
        parts=lambda one: on if one["collective"] == "on" else off,
    )  # fmt: skip
    return found(folder, records).explanations[0].text


def test_explained_by_who_wrote(tmp_path: Path) -> None:
    text = explained(tmp_path, {"writers": writers(4, 1, 4)}, {"writers": writers(4, 4, 50)})
    assert text.startswith("collective=on costs 1.5")
    assert "times collective=off here (1.5" in text
    assert (
        "1 of 4 ranks wrote everything (4 calls of 16.0 MiB), against 4 of 4 (200 calls of "
        "327.7 KiB)" in text
    )


def test_explained_by_the_number_of_calls(tmp_path: Path) -> None:
    text = explained(tmp_path, {"writers": writers(4, 4, 50)}, {"writers": writers(4, 4, 8)})
    assert "(200 calls of 327.7 KiB), against 4 of 4 (32 calls of 2.0 MiB)" in text
    text = explained(tmp_path, {"writers": writers(4, 4, 9)}, {"writers": writers(4, 4, 8)})
    assert "the counts do not separate them" in text, "36 calls are nearly 32"


def test_explained_by_reads_while_writing(tmp_path: Path) -> None:
    on = {"writers": writers(4, 4, 8, read_bytes=8 * MIB)}
    text = explained(tmp_path, on, {"writers": writers(4, 4, 8)})
    assert "(read-modify-write): 32.0 MiB in 16 calls, against none" in text


def test_explained_by_bytes_space_and_mode(tmp_path: Path) -> None:
    same = {"writers": writers(4, 4, 8)}
    size = 64 * MIB
    on = same | {
        "bytes": {"logical": size, "stored": size // 4, "allocated": size // 4},
        "reservation": {"reserved": False, "how": ""},
    }
    text = explained(tmp_path, on, same)
    assert "16.0 MiB stored, against 64.0 MiB" in text
    assert "no space was set aside beforehand, against space was set aside" in text


def test_where_the_counts_do_not_separate_it_says_so(tmp_path: Path) -> None:
    same = {"writers": writers(4, 4, 8)}
    text = explained(tmp_path, same, same)
    assert "the counts do not separate them: 4 of 4 ranks wrote (32 calls of 2.0 MiB) both" in text
    assert "the time went into write (+0.0" in text
    text = explained(tmp_path, {"writers": writers(4, 1, 4)}, same, slower=1.0)
    assert "no difference beyond noise" in text and "although the counts differ" in text


def test_a_hint_that_is_not_in_force_is_named(tmp_path: Path) -> None:
    def parts(one: Settings) -> dict[str, Any]:
        asked = {"cb_nodes": one["cb_nodes"]}
        return {"mpi_io": {"implementation": "ROMIO", "hints_requested": asked,
                           "hints_in_force": {"cb_nodes": "1"}}}  # fmt: skip

    records = swept({"cb_nodes": ["1", "4"]}, lambda one: 0.1 * float(one["cb_nodes"]), parts=parts)
    text = found(tmp_path, records).explanations[0].text
    assert "the hint is not in force: ROMIO says 1" in text


def test_a_grid_with_holes_is_compared_where_it_can_be(tmp_path: Path) -> None:
    """deflate does not go with independent writes: half of its row is missing."""
    factors = {"collective": ["on", "off"], "deflate": ["0", "1"]}
    records = [
        one for one in swept(factors, lambda one: 0.1 * (3 if one["deflate"] == "1" else 1))
        if one["arm"]["name"] != "collective=off deflate=1"
    ]  # fmt: skip
    got = found(tmp_path, records)
    pairs = {(one.factor, one.level): len(one.pairs) for one in got.effects.alone}
    assert pairs[("deflate", "1")] == 1
    assert sum(count for (factor, _), count in pairs.items() if factor == "collective") == 1
    assert got.effects.together == []


def test_failed_runs_and_warm_ups_do_not_count(tmp_path: Path) -> None:
    records = swept({"collective": ["on", "off"]}, lambda _one: 0.1)
    for record in records[-2:]:
        record |= {"status": "failed", "rates": dict.fromkeys(record["rates"])}
    runs = found(tmp_path, records).runs
    assert [len(case.values) for case in runs.measured] == [7, 7]
    assert [len(case.failed) for case in runs.measured] == [1, 1]


def test_settings_that_write_other_amounts_are_ranked_by_their_rate(tmp_path: Path) -> None:
    records = swept({"time": ["4", "8"]}, lambda one: 0.1 * int(one["time"]))
    for record in records:
        if record["arm"]["name"] == "time=8":  # twice the bytes in twice the time
            record["bytes"]["logical"] *= 2
            record["rates"] = {name: 2 * rate for name, rate in record["rates"].items()}
    got = found(tmp_path, records)
    assert not got.runs.same_bytes and all(one.among_best for one in got.ranked)


def test_the_matrix_calls_noise_noise() -> None:
    cells = [Cell("ROMIO", mode, "long-fast", "default hints", Case("", ()))
             for mode in ("collective", "independent")]  # fmt: skip

    def text(*ratio: Any) -> str:
        return Pair(cells[0], cells[1], Ratio(*ratio), []).text

    assert "took 1.47 times collective (too few runs to tell)" in text(1.47, None, 3)
    noise = "against collective, no difference beyond noise (0.90 to 2.10)"
    assert noise in text(1.47, (0.9, 2.1), 6)
    assert "took 1.47 times collective (1.20 to 2.10)" in text(1.47, (1.2, 2.1), 6)
