# SPDX-License-Identifier: Apache-2.0
"""The published configurations: the table, how they are scaled, what is printed beside them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tailrace_cli import called

from tailrace.suite import scale, table
from tailrace.suite.scale import Limits, scaled
from tailrace.suite.table import suites

GIB = 1 << 30
SLAB = "slab coll fast"


def case(name: str, suite: str = "full") -> table.Case:
    return next(one for one in suites()[suite].cases if one.name == name)


def limits(most: int, ranks: int = 8) -> Limits:
    return Limits(most, "", ranks)


def test_published_figures_are_those_of_the_sources() -> None:
    """In GiB/s as they stand there, and in MiB/s."""
    published = {
        "slab coll fast": 0.674, "slab coll slow": 0.606, "slab indep fast": 0.363,
        "slab indep slow": 3.848, "slab coll fast no-cb": 0.366, "slab coll slow no-cb": 3.606,
        "slab indep fast no-cb": 0.392, "slab indep slow no-cb": 3.587,
    }  # fmt: skip
    cori = suites()["cori-2018"].cases
    assert [one.name for one in cori] == list(published)
    for one in cori:
        rate = one.published_bytes_per_s("open_to_close")
        assert rate == pytest.approx(published[one.name] * GIB, rel=1e-4)
        assert one.where == "Cori KNL, 2018" and one.ranks == 20
    assert case("seism").figures == {"write": 402.258, "aggregate": 378.734}
    demo = case("particle demo").figures
    assert demo["write"] == pytest.approx(84.812 * 1024, rel=1e-4)
    assert demo["aggregate"] == pytest.approx(44.326 * 1024, rel=1e-4)
    assert case("amr").figures["aggregate"] == pytest.approx(48 * 1024 / 17, rel=1e-4)


def test_published_sizes() -> None:
    sizes = {name: scaled(case(name), limits(1 << 60)).bytes
             for name in ("seism", "seism default set", SLAB, "particle demo", "amr")}  # fmt: skip
    assert sizes == {
        "seism": 450 << 20, "seism default set": 900 << 20, SLAB: 16_000_000_000,
        "particle demo": 8 * GIB, "amr": 48 * GIB,
    }  # fmt: skip
    assert scaled(case("particle demo"), limits(1 << 60)).published_bytes == 160 * GIB
    found = scaled(case("seism"), limits(1 << 60))
    assert found.by == "1" and found.words[:4] == [
        "processor=2x2x2", "domain=180x128x128", "chunk=360x128x128", "time=5",
    ]  # fmt: skip


@pytest.mark.parametrize("most", [1 << 30, 400 << 20, 50 << 20, 5 << 20, 600_000])
def test_scaled_configurations_fit_and_use_the_room(most: int) -> None:
    """What is made smaller would not fit with one more step of the size that shrank last."""
    for one in suites()["full"].cases:
        found = scaled(one, limits(most))
        assert found.bytes <= max(most, scaled(one, limits(1)).bytes)
        step, power, size = {"seism": (1, 1, "x"), "slab": (1000, 1, "n1"),
                             "particle": (1, 1, "block_cnt"),
                             "amr": (32, 3, "ncells")}[one.kernel]  # fmt: skip
        words = dict(word.split("=", 1) for word in found.words if "=" in word)
        if one.kernel == "seism":
            own = int(words["time"])
            if own == 1:
                factor = 2 if one.name != "seism" else 1
                own = int(words["domain"].partition("x")[0]) // factor
        else:
            own = int(words[size])
        if found.bytes < found.published_bytes:
            assert found.bytes * ((own + step) / own) ** power > most


def test_sizes_shrink_in_their_order() -> None:
    seism = scaled(case("seism"), limits(200 << 20)).words
    assert seism[1] == "domain=180x128x128" and seism[3] == "time=2"
    seism = scaled(case("seism"), limits(45 << 20)).words
    assert seism[1:4] == ["domain=90x128x128", "chunk=180x128x128", "time=1"]


def test_ranks() -> None:
    found = scaled(case(SLAB), limits(1 << 60, ranks=8))
    assert (found.ranks, found.by) == (8, "8 of 20 ranks")
    assert scaled(case(SLAB), limits(8_000_000, ranks=8)).by == "bytes / 2,000, 8 of 20 ranks"
    assert scaled(case(SLAB), limits(1 << 60, ranks=64)).ranks == 20
    assert scaled(case("seism"), limits(1 << 60, ranks=4)).ranks == 8


def test_limits_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "cores", lambda: 3)
    monkeypatch.setattr(scale, "meminfo_bytes", lambda _name: 40 << 30)
    monkeypatch.setattr(scale.shutil, "disk_usage", lambda _path: SimpleNamespace(free=80 << 30))
    found = scale.limits_of(tmp_path, None)
    assert found == Limits(10 << 30, "a fourth of the available memory, 10.0 GiB", 12)
    monkeypatch.setattr(scale.shutil, "disk_usage", lambda _path: SimpleNamespace(free=4 << 30))
    assert scale.limits_of(tmp_path, None).why == "a fourth of the free disk space, 1.0 GiB"
    assert scale.limits_of(tmp_path, 1 << 20).why == "the suite's limit, 1.0 MiB"
    monkeypatch.setattr(scale, "meminfo_bytes", lambda _name: None)
    assert scale.limits_of(tmp_path, None).bytes == 1 << 30


def test_a_wrong_table_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = table.file.read_text().replace("fewer_ranks = true", "fewer_rank = true", 1)
    (tmp_path / "cases.toml").write_text(text)
    monkeypatch.setattr(table, "file", tmp_path / "cases.toml")
    with pytest.raises(ValueError, match=r"cases\.toml: slab coll fast: unknown fewer_rank"):
        suites()


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["quik"], 2, 'there is no suite "quik". Did you mean "quick"?'),
        (["quick", "--run-folder", "absent"], 2, "--run-folder absent: there is no such folder"),
        (["quick", "--most-bytes", "1Q"], 2, '--most-bytes: "1Q" is no size'),
        (["quick", "--most-bytes", "0"], 2, "--most-bytes: nothing is that small"),
        (["quick", "--repeat", "0"], 2, "'--repeat': Input should be greater"),
        (["quick"], 4, "no case of quick can be run here: there is no program tailrace-seism here"),
    ],
)
def test_mistakes(
    words: list[str], code: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TAILRACE_BUILD_DIR", raising=False)
    ran = called("suite", *words).expect(code)
    assert text in ran.err and "hint: " in ran.err and ran.out == ""
    assert list(tmp_path.iterdir()) == []


def test_what_a_program_refuses_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tailrace-seism"
    program.write_text("#!/bin/sh\necho 'tailrace: error: too little memory' >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("TAILRACE_BIN", str(tmp_path))
    monkeypatch.delenv("TAILRACE_BUILD_DIR", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("tailrace.suite.experiment.programs.mpi_library", lambda _path: None)
    found = json.loads(called("suite", "quick", "--dry-run", "--json").expect(0).out)
    assert found["not_run"]["seism"] == "too little memory"
    assert found["not_run"]["amr"] == "there is no program tailrace-amr here"
