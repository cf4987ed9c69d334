# SPDX-License-Identifier: Apache-2.0
"""`tailrace scale`: geometry, efficiency, the model on curves whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import written
from stage import Stage, a_stage
from swept import scaled
from tailrace_cli import SOURCE, Ran, called

from tailrace.errors import TailraceError
from tailrace.results import read_results
from tailrace.run.kernels import kernels
from tailrace.scale.geometry import placed, rules
from tailrace.scale.model import Model, NoModel
from tailrace.scale.plan import ranks_of
from tailrace.scale.scaling import Scaling, scaling
from tailrace.sweep.data import runs_of


def found(folder: Path, records: list[Any], mode: str) -> Scaling:
    file = written(folder / "results.jsonl", records)
    return scaling(runs_of(read_results([file]).records), mode)


def test_efficiency_is_by_the_bytes_that_were_written(tmp_path: Path) -> None:
    """Of strong scaling, where the ranks do not divide the domain."""
    records = scaled([1, 2], lambda p: 1.0 / p, mode="strong", noise=0)
    less = [one for one in records if one["context"]["ranks"] == 2]
    for record in less:
        record["bytes"]["logical"] = record["bytes"]["logical"] * 3 // 4
        record["rates"] = {name: rate * 0.75 for name, rate in record["rates"].items()}
    points = found(tmp_path, records, "strong").points
    assert [round(one.efficiency, 6) for one in points] == [1, 0.75]


GRIDS = [
    (1, "1x1x1"), (2, "2x1x1"), (4, "2x2x1"), (6, "3x2x1"), (8, "2x2x2"), (12, "3x2x2"),
    (7, "7x1x1"), (64, "4x4x4"),
]  # fmt: skip


@pytest.mark.parametrize(("ranks", "grid"), GRIDS)
def test_weak_keeps_the_domain_of_a_rank(ranks: int, grid: str) -> None:
    one = placed("seism", {"domain": "64 64 64"}, ranks, "weak")
    assert one.words == (f"processor={grid}", "domain=64x64x64") and one.note == ""


CUTS = [
    (1, "1x1x1", "64x64x32", ""), (2, "2x1x1", "32x64x32", ""), (8, "2x2x2", "32x32x16", ""),
    (3, "3x1x1", "21x64x32", "64x64x32 cannot be cut for 3 ranks: 63x64x32 in its place"),
]  # fmt: skip


@pytest.mark.parametrize(("ranks", "grid", "domain", "note"), CUTS)
def test_strong_cuts_the_whole_anew(ranks: int, grid: str, domain: str, note: str) -> None:
    settings = {"domain": "32x64x32", "processor": "2x1x1"}
    one = placed("seism", settings, ranks, "strong")
    assert one.words == (f"processor={grid}", f"domain={domain}") and one.note == note


SLABS = [
    ("weak", {}, ("n1=400", "n2=50")), ("strong", {}, ("n1=100", "n2=50")),
    ("weak", {"axis": "short-split"}, ("n1=100", "n2=200")),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "more", "words"), SLABS)
def test_slab_grows_along_the_dimension_that_ranks_share(
    mode: str, more: dict[str, str], words: tuple[str, ...]
) -> None:
    assert placed("slab", {"n1": "100", "n2": "50", **more}, 4, mode).words == words


@pytest.mark.parametrize(("mode", "word"), [("weak", "jm=28"), ("strong", "jm=7")])
def test_history_grows_along_latitude(mode: str, word: str) -> None:
    assert placed("history", {"jm": "7"}, 4, mode).words == (word,)


PARTICLES = [
    ("weak", "1K", "dim_1=1024", ""), ("strong", "100", "dim_1=25", ""),
    ("strong", "102", "dim_1=26", "dim_1=102 cannot be cut for 4 ranks: 104 in its place"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "given", "word", "note"), PARTICLES)
def test_particles_are_those_of_a_rank_or_of_all(
    mode: str, given: str, word: str, note: str
) -> None:
    one = placed("particle", {"dim_1": given}, 4, mode)
    assert one.words == (word,) and one.note == note


def test_every_kernel_that_can_be_swept_can_be_scaled() -> None:
    assert set(rules) == set(kernels) - {"limit"}


@pytest.mark.parametrize("domain", ["", "64x64", "0x1x1", "axbxc"])
def test_without_a_domain_there_is_no_geometry(domain: str) -> None:
    with pytest.raises(TailraceError, match="domain is"):
        placed("seism", {"domain": domain} if domain else {}, 2, "weak")


def test_ranks() -> None:
    assert ranks_of("4,1,2,2") == [1, 2, 4] and ranks_of("1-3,8") == [1, 2, 3, 8]
    for text in ("", "0", "1,x", "-4", "4", "3-1"):
        with pytest.raises(TailraceError):
            ranks_of(text)


def test_a_weak_curve_is_found_again(tmp_path: Path) -> None:
    """0.02 s that stay and 0.01 s for each rank."""
    ranks = [1, 2, 4, 8, 16]
    got = found(tmp_path, scaled(ranks, lambda p: 0.02 + 0.01 * p, cores=16), "weak")
    assert [point.ranks for point in got.points] == ranks
    assert [point.logical_bytes >> 20 for point in got.points] == [64 * p for p in ranks]
    for point in got.points:
        truth = 0.02 + 0.01 * point.ranks
        assert point.median_s == pytest.approx(truth, rel=0.05)
        assert point.efficiency == pytest.approx(0.03 / truth, rel=0.06)
        if point.efficiency_interval:
            low, high = point.efficiency_interval
            assert low <= point.efficiency <= high
    model = got.model
    assert isinstance(model, Model) and model.describes and model.fitted_ranks == tuple(ranks)
    for name, truth in (("a", 0.02), ("c", 0.01)):
        low, high = model.intervals[name]
        assert low <= truth <= high and model.parts[name] == pytest.approx(truth, rel=0.15)
    assert [one.ranks for one in model.beyond] == [32, 64, 128]
    for one in model.beyond:
        assert one.interval_s[0] <= 0.02 + 0.01 * one.ranks <= one.interval_s[1]


def test_few_rounds_give_a_model_without_intervals(tmp_path: Path) -> None:
    records = scaled([1, 2, 4, 8], lambda p: 0.02 + 0.01 * p, cores=8, rounds=3)
    model = found(tmp_path, records, "weak").model
    assert isinstance(model, Model) and model.describes and not model.intervals
    assert all(one.interval_s is None for one in model.beyond)


def test_a_strong_curve_is_found_again(tmp_path: Path) -> None:
    def truth(p: int) -> float:
        return 0.01 + 0.4 / p + 0.002 * p

    got = found(tmp_path, scaled([1, 2, 4, 8, 16, 32], truth, mode="strong", cores=32), "strong")
    model = got.model
    assert isinstance(model, Model) and model.describes and model.worst < 0.05
    assert model.parts["b"] == pytest.approx(0.4, rel=0.1)
    assert model.parts["c"] == pytest.approx(0.002, rel=0.2)
    point = got.points[3]
    assert point.efficiency == pytest.approx(truth(1) / truth(8) / 8, rel=0.06)


def test_more_ranks_than_cores_are_left_out_of_the_fit(tmp_path: Path) -> None:
    def truth(p: int) -> float:
        return (0.02 + 0.01 * p) * (5 if p > 4 else 1)

    got = found(tmp_path, scaled([1, 2, 4, 8], truth), "weak")
    assert [point.oversubscribed for point in got.points] == [False, False, False, True]
    assert isinstance(got.model, Model) and got.model.fitted_ranks == (1, 2, 4)
    assert got.model.parts["c"] == pytest.approx(0.01, rel=0.15)
    got = found(tmp_path, scaled([1, 2, 8], truth), "weak")
    assert got.model == NoModel(
        "2 points (1 with more ranks than cores left out), and 3 are needed for a model"
    )


def test_a_curve_that_no_model_describes_is_said_to_be_none(tmp_path: Path) -> None:
    times = {1: 0.1, 2: 0.5, 4: 0.1, 8: 0.6, 16: 0.1}
    got = found(tmp_path, scaled(list(times), lambda p: times[p], cores=16), "weak")
    assert isinstance(got.model, Model) and not got.model.describes


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = a_stage(tmp_path, monkeypatch)
    made.truth("""
def seconds(settings, environment, number):
    ranks = 1
    for part in settings["processor"].split("x"):
        ranks *= int(part)
    return (0.02 + 0.01 * ranks) * (1 + 0.002 * (number % 5))
""")
    return made


def test_the_limit_is_no_kernel_to_scale() -> None:
    words = ("--ranks", "1,2", "--mode", "weak")
    assert "the kernel limit has no settings" in called("scale", "limit", *words).expect(2).err


def scale(stage: Stage, *words: str) -> Ran:
    return called("scale", "seism", "--launcher", stage.launcher, *words)


def test_the_command(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--ranks", "1,2,4", "--mode", "weak", "domain=8x8x8", "time=2")
    found = scale(stage, *words, "--repeat", "3", "--json").expect(0).json
    assert [one["ranks"] for one in found["points"]] == [1, 2, 4]
    assert [one["processor"] for one in stage.calls()].count("2x2x1") == 4
    assert len(stage.calls()) == 12 and found["model"]["parts"].keys() == {"a", "c"}
    page = (SOURCE / "docs" / "user" / "scale.md").read_text()
    keys = [*found, *found["points"][0], *found["model"]]
    assert [key for key in keys if f"`{key}`" not in page] == []
    ran = scale(stage, *words, "--repeat", "3", "--resume", "--report", "page.html").expect(0)
    assert len(stage.calls()) == 12, "nothing is missing"
    assert all(len(line) <= 80 for line in ran.out.splitlines()), ran.out
    assert "extrapolated, not measured: 8 ranks" in ran.out and "model: T(p) = " in ran.out
    assert "weak scaling: durable total over the ranks" in Path("page.html").read_text()


MISTAKES = [
    ([], "--ranks is missing"),
    (["--ranks", "1,2"], "--mode is missing"),
    (["--ranks", "1,2", "--mode", "week"], 'Did you mean "weak"?'),
    (["--ranks", "1,b", "--mode", "weak"], '"1,b" is no list of ranks'),
    (["--ranks", "1-1000000", "--mode", "weak"], "1000000 numbers of ranks are more than 256"),
    (["--ranks", "3", "--mode", "weak"], "one number of ranks makes no curve"),
    (["--ranks", "1,2", "--mode", "weak", "time=2"], "domain is missing"),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_mistakes(words: list[str], text: str, stage: Stage) -> None:
    assert text in scale(stage, *words).expect(2).err
    assert stage.calls() == [] and list(stage.work.iterdir()) == []
