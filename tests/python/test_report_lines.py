# SPDX-License-Identifier: Apache-2.0
"""Time lines of ranks in a report: where marks stand, what the sentence says, which combinations of
a sweep are shown, and that Records without them are read as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import a_record, a_run, one_wrote, time_lines, written
from report_pages import FAST, Page, page_of, pictures
from swept import Settings, swept, writers
from tailrace_cli import called

from tailrace.report import lanes
from tailrace.report.many.lines import default_of
from tailrace.report.time_lines import Line, Stretch, ranks_words, reading, sentence, writing
from tailrace.results import read_results
from tailrace.sweep.data import runs_of
from tailrace.sweep.findings import findings


def record_of(lines: Any, wrote: int, ranks: int = 4, **more: Any) -> dict[str, Any]:
    """Of a run in which the first ranks wrote."""
    counts = writers(ranks, wrote, 4) if wrote else writers(ranks, 1, 4)
    if not wrote:
        counts = {"measured": False, "ranks_that_wrote": None, "list": []}
    return a_record(ranks=ranks, writers=counts, time_lines=lines, **more)


def said(lines: Any, wrote: int, ranks: int = 4) -> str:
    found = writing(record_of(lines, wrote, ranks))
    assert found is not None
    return sentence(found)


def test_one_wrote_and_the_others_waited() -> None:
    assert said(one_wrote(0.5), 1) == (
        "Rank 0 wrote everything and spent 90 % of the time in write calls; ranks 1 to 3 wrote "
        "nothing and waited 90 % of it."
    )


def test_waiting_inside_of_write_calls_is_told_by_the_counts() -> None:
    line = [("write", 0.0, 0.8), ("agree", 0.8, 1.0)]
    assert said(time_lines([line] * 4), 2) == (
        "Ranks 0 and 1 wrote everything and spent 80 % of the time in write calls; ranks 2 and 3 "
        "wrote nothing: 80 % of the time they were in write calls all the same, waiting there, and "
        "20 % they waited elsewhere."
    )


def test_all_wrote_evenly_or_not() -> None:
    even = [("write", 0.0, 0.9), ("agree", 0.9, 1.0)]
    assert said(time_lines([even] * 4), 4) == (
        "All 4 ranks wrote, 90 % of the time in write calls, and waited 10 % of it for each other."
    )
    slow = [("write", 0.0, 1.0)]
    quick = [("write", 0.0, 0.25)]  # then in no phase: at the barrier
    assert said(time_lines([even, slow, quick, even]), 4) == (
        "All 4 ranks wrote, 25 to 100 % of the time in write calls; rank 2 waited longest for the "
        "others (75 %), rank 1 shortest (0 %)."
    )


def test_the_phase_that_took_most_is_named() -> None:
    line = [("write", 0.0, 0.2), ("sync", 0.2, 0.9), ("agree", 0.9, 1.0)]
    assert said(time_lines([line]), 1, ranks=1) == (
        "Rank 0 wrote, 20 % of the time in write calls. The phase that took most was sync: 70 % of "
        "the time in the mean."
    )


def test_what_is_off_the_clock_is_no_time() -> None:
    line = [
        ("write", 0.0, 1.0),
        ("compute", 1.0, 9.0),
        ("write", 9.0, 10.0),
        ("verify", 10.0, 99.0),
    ]
    found = writing(record_of(time_lines([line] * 4), 4))
    assert found is not None and found.end_s == 10.0
    assert "100 % of the time in write calls" in sentence(found)


def test_without_counts_only_the_times_are_told() -> None:
    words = said(one_wrote(0.5), 0)
    assert words.startswith("Who wrote was not counted. All 4 ranks spent 0 to 90 % of the time")


def test_who_wrote_is_about_the_data_where_that_is_known() -> None:
    record = record_of(one_wrote(0.5), 1)
    record["writers"]["list"][2] |= {"calls": 1, "bytes_done": 100}
    record["writers"]["list"][2]["by_phase"] = {"close": {"calls": 1, "bytes_done": 100}}
    found = writing(record)
    assert found is not None and sentence(found).startswith("Rank 0 wrote everything")
    for one in record["writers"]["list"]:
        one["by_phase"] = {}  # threads of the library wrote, whenever it was
    found = writing(record)
    assert found is not None and sentence(found).startswith("Ranks 0 and 2 wrote everything")


def test_reading_stands_apart() -> None:
    line = [
        ("write", 0.0, 1.0), ("read_back", 1.0, 1.2), ("read", 1.2, 1.7), ("read_back", 1.7, 2.0),
        ("verify", 2.0, 3.0), ("read", 3.0, 4.0),
    ]  # fmt: skip
    found = reading(record_of(time_lines([line] * 4), 4))
    assert found is not None and found.end_s == pytest.approx(1.0)
    rest = "the rest went into opening, comparing and waiting."
    assert sentence(found) == f"All 4 ranks read, 50 % of the time in read calls; {rest}"
    short = [("write", 0.0, 1.0), ("read_back", 1.0, 2.0)]
    found = reading(record_of(time_lines([line, short]), 2, ranks=2))
    assert found is not None
    assert sentence(found).startswith("Both ranks read, 0 to 50 % of the time in read calls;")
    assert sentence(found).endswith("Rank 0 read longest, rank 1 shortest.")
    assert reading(record_of(one_wrote(0.5), 1)) is None


def test_names_of_ranks() -> None:
    assert ranks_words([3]) == "rank 3"
    assert ranks_words([1, 0]) == "ranks 0 and 1"
    assert ranks_words([1, 2, 3]) == "ranks 1 to 3"
    assert ranks_words([0, 2, 5]) == "ranks 0, 2 and 5"
    assert ranks_words([0, 4, 8, 12, 16]) == "5 ranks (0, 4, 8, ...)"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-9, 1)), max_size=20), st.floats(1e-3, 2))
def test_cells_hold_all_the_time(steps: list[tuple[float, float]], width: float) -> None:
    at, stretches = 0.0, []
    for gap, length in steps:
        stretches.append(Stretch("write", at + gap, at + gap + length))
        at += gap + length
    found = lanes.cells(Line(0, stretches, 0.0), width)
    total = sum(one.seconds for one in stretches)
    assert sum(cell.get("write", 0.0) for cell in found) == pytest.approx(total, abs=1e-6)
    assert all(sum(cell.values()) <= width + 1e-9 for cell in found)


def marks(html: str, name: str) -> list[tuple[float, float, str, str]]:
    """Left end, width, class and words of each mark of a picture."""
    named = f"{name}-title {name}-desc"
    picture = next(one for one in pictures(html) if one.get("aria-labelledby") == named)
    return [
        (float(one.get("x", "")), float(one.get("width", "")), one.get("class", ""),
         one.findtext("title") or "")
        for one in picture.findall("rect")
    ]  # fmt: skip


def test_marks_stand_where_the_phases_were(tmp_path: Path) -> None:
    lines = [[("create", 0.0, 0.1), ("write", 0.1, 0.5)], [("agree", 0.3, 0.5)]]
    counts = writers(2, 1, 4)
    parts = {"ranks": 2, "writers": counts, "time_lines": time_lines(lines)}
    html = page_of(tmp_path, a_run(FAST, **parts))
    create, write, agree = marks(html, "s1-lines")
    assert "p-create" in create[2] and "p-write" in write[2] and "p-agree" in agree[2]
    unit = create[1]
    assert write[1] == pytest.approx(4 * unit, rel=0.03)
    assert agree[1] == pytest.approx(2 * unit, rel=0.03)
    assert agree[0] - create[0] == pytest.approx(3 * unit, rel=0.03)
    assert write[3] == "rank 0, 100.0 to 500.0 ms: write 400.0 ms"
    figure = Page(html).figures["s1-lines"]
    assert "rank 1 wrote nothing and waited 100 % of it" in figure["text"]
    assert figure["rows"] == [
        ["rank", "bytes written", "create (s)", "write (s)", "agree (s)", "no phase (s)"],
        ["0", "67,108,864", "0.1000", "0.4000", "0", "0"],
        ["1", "0", "0", "0", "0.2000", "0.3000"],
    ]


def test_many_ranks_and_steps_stay_small(tmp_path: Path) -> None:
    steps = [part for n in range(32) for part in (("write", n, n + 0.5), ("agree", n + 0.5, n + 1))]
    ranks = [16 * rank for rank in range(64)]
    parts = {
        "ranks": 1000, "writers": writers(1000, 1000, 4),
        "time_lines": time_lines([steps] * 64, resolution_s=0.25, uncertainty_s=2e-5, ranks=ranks),
    }  # fmt: skip
    html = page_of(tmp_path, [a_record(**parts)])
    assert len(marks(html, "s1-lines")) <= 64 * 64
    note = Page(html).figures["s1-lines"]["text"]
    assert "64 of 1,000 ranks" in note
    assert "none is further than 0.2500 s from where it was" in note
    assert "Clocks of different nodes may be 0.02000 ms apart" in note


def test_older_records_have_no_lines(tmp_path: Path) -> None:
    assert writing(a_record()) is None and writing(a_record(time_lines=None)) is None
    page = Page(page_of(tmp_path, a_run(FAST)))
    assert not [name for name in page.figures if "lines" in name]


def seconds(one: Settings) -> float:
    return 0.05 * (2.0 if one["collective_write"] == "on" else 1.0) * (
        1.5 if one["chunk"] == "none" else 1.0
    )  # fmt: skip


def with_lines(factors: dict[str, list[str]]) -> list[dict[str, Any]]:
    records = swept(factors, seconds, parts=lambda _one: {"writers": writers(4, 1, 24)})
    for record in records:
        record["time_lines"] = one_wrote(record["elapsed"]["durable_s"])
    return records


def test_a_sweep_shows_the_best_the_worst_and_the_default(tmp_path: Path) -> None:
    records = with_lines({"collective_write": ["on", "off"], "chunk": ["360x128x128", "none"]})
    html = page_of(tmp_path, records)
    figure = Page(html).figures["sweep-lines"]
    heads = ("Best: collective_write=off chunk=360x128x128",
             "Worst: collective_write=on chunk=none",
             "Default: collective_write=off chunk=none")  # fmt: skip
    for head in heads:
        assert head in figure["text"]
    # Below each picture, and in its description.
    assert figure["text"].count("ranks 1 to 3 wrote nothing and waited 90 % of it") == 6
    assert len(figure["rows"]) == 1 + 3 * 4
    widths = [
        max(at + width for at, width, *_ in marks(html, f"sweep-lines-{number}"))
        for number in (1, 2, 3)
    ]
    assert widths[1] > widths[2] > widths[0], "all have the same axis"


def test_what_a_default_is(tmp_path: Path) -> None:
    def default(factors: dict[str, list[str]]) -> tuple[str, str] | None:
        file = written(tmp_path / "r.jsonl", with_lines(factors))
        found = default_of(findings(runs_of(read_results([file]).records)).ranked)
        return found and (found[0], found[1].case.name)

    both = {"collective_write": ["on", "off"], "chunk": ["1x1x1", "none"]}
    assert default(both) == ("default", "collective_write=off chunk=none")
    one = {"collective_write": ["on", "off"], "chunk": ["2x2x2", "1x1x1"]}
    found = default(one)
    assert found is not None and found[0] == "nearest to the defaults (1 of 2 factors)"
    assert found[1].startswith("collective_write=off")
    assert default({"collective_write": ["on", "1"], "chunk": ["2x2x2", "1x1x1"]}) is None


def test_csv_has_the_lines_too(tmp_path: Path) -> None:
    records = a_run(FAST, writers=writers(4, 1, 4), time_lines=one_wrote(0.5))
    file = written(tmp_path / "results.jsonl", records)
    words = ("-o", tmp_path / "report.html", "--csv", tmp_path / "csv")
    called("report", file, *words).expect(0)
    rows = (tmp_path / "csv" / "s1-lines.csv").read_text().splitlines()
    assert rows[0].startswith("rank,bytes written,") and len(rows) == 5
