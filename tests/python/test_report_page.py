# SPDX-License-Identifier: Apache-2.0
"""What a report says, held against the Records it is made of."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from records import MIB, a_record, a_run, written
from report_pages import FAST, SLOW, Page, page_of, pictures, two_settings
from tailrace_cli import called

PER_SECTION = ["throughput", "phases", "steps", "imbalance", "bytes", "calls", "sizes"]


def rates(times: tuple[float, ...]) -> list[float]:
    return [64 / time for time in times]


def test_every_plot_of_every_section_is_there(tmp_path: Path) -> None:
    html = page_of(tmp_path, two_settings())
    page = Page(html)
    sections = [f"s{number}-{name}" for number in (1, 2) for name in PER_SECTION]
    assert list(page.figures) == ["overview", *sections]
    for name in page.figures:
        assert page.figures[name]["rows"], f"{name} has no numbers"
    plots = [one for one in pictures(html) if one.get("role") == "img"]
    assert len(plots) == len(page.figures)
    for plot in plots:
        assert plot.findtext("title") and plot.findtext("desc")


def test_ids_are_unique_and_links_lead_somewhere(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, two_settings()))
    assert len(page.ids) == len(set(page.ids))
    links = [value for _tag, name, value in page.attributes if name == "href"]
    assert sorted(links) == ["#s1", "#s2"]
    assert {link[1:] for link in links} <= set(page.ids)
    named = [value.split() for _t, name, value in page.attributes if name == "aria-labelledby"]
    assert {one for names in named for one in names} <= set(page.ids)


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    html = page_of(tmp_path, two_settings())
    page = Page(html)
    assert not {"link", "img", "iframe", "object", "embed"} & set(page.tags)
    assert not [name for _tag, name, _value in page.attributes if name in ("src", "srcset")]
    assert not re.search(r"url\((?!#hatch-)|@import|https?://", html)


def test_numbers_are_those_of_the_records(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, two_settings()))
    table = page.figures["s1-throughput"]["rows"]
    assert table[0] == ["number", "kind", "durable (MiB/s)", "raw (MiB/s)"]
    assert [row[1] for row in table[1:]] == ["warm-up"] + ["measured"] * 6
    assert [float(row[2]) for row in table[2:]] == pytest.approx(rates(FAST), rel=1e-3)
    assert [float(row[3]) for row in table[2:]] == pytest.approx([2 * r for r in rates(FAST)], 1e-3)
    overview = page.figures["overview"]["rows"]
    assert [row[0] for row in overview[1:]] == ["1", "2"], "the fastest on top"
    for row, times in zip(overview[1:], (FAST, SLOW), strict=True):
        found = [float(cell) for cell in row[3:6]]
        every = rates(times)
        assert found == pytest.approx([median(every), min(every), max(every)], rel=1e-3)


def test_phases_are_those_of_the_rank_that_the_others_waited_for(tmp_path: Path) -> None:
    records = a_run(FAST)
    for record, time in zip(records[-len(FAST) :], FAST, strict=True):
        one_of_four = {"min_s": 0, "mean_s": 0.1 * time, "max_s": 0.4 * time, "entries": 1}
        record["phases"] = {
            "write": {"min_s": 0, "mean_s": 0.6 * time, "max_s": 0.6 * time, "entries": 1},
            "sync": one_of_four,
            "agree": {"min_s": 0, "mean_s": 0.3 * time, "max_s": 0.4 * time, "entries": 1},
        }
        for name, share in (("write", 0.6), ("sync", 0.4), ("agree", None)):
            record["phases"][name]["path_s"] = share and share * time
    header, *rows = Page(page_of(tmp_path, records)).figures["s1-phases"]["rows"]
    place = {name: at for at, name in enumerate(header)}
    for row, time in zip(rows, FAST, strict=True):
        shares = [float(row[place[f"{n} (s)"]]) / time for n in ("write", "sync", "agree")]
        assert shares == pytest.approx([0.6, 0.4, 0], rel=1e-3)


def test_phases_without_a_path_are_means_and_those_off_the_clock_are_apart(tmp_path: Path) -> None:
    records = a_run(FAST)
    for record in records:
        record["phases"]["verify"] = {"min_s": 9, "mean_s": 9, "max_s": 9, "entries": 1}
    page = Page(page_of(tmp_path, records))
    header, *rows = page.figures["s1-phases"]["rows"]
    assert header[1:5] == ["create (s)", "write (s)", "close (s)", "sync (s)"]
    for row, time in zip(rows, FAST, strict=True):
        shares = [float(cell) / time for cell in row[1:5]]
        assert shares == pytest.approx([0.1, 0.5, 0.05, 0.35], rel=1e-3)
        assert float(row[5]) == pytest.approx(float(row[6]), rel=1e-3)
    bars = page.count("s1-phases", "rect", "bar p-sync")
    assert bars == 6 + 1, "six bars and the legend"
    spread = {row[0]: [float(cell) for cell in row[1:4]] for row in page.figures[
        "s1-imbalance"]["rows"][1:]}  # fmt: skip
    assert spread["write"] == pytest.approx([0.225, 0.25, 0.275], rel=1e-3)
    assert "verify" not in spread


def test_who_wrote(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, a_run(FAST, ranks=4)))
    rows = page.figures["s1-bytes"]["rows"][1:]
    assert [(row[0], row[1].replace(",", "")) for row in rows] == [
        (str(rank), str(16 * MIB)) for rank in range(4)
    ]
    assert page.count("s1-bytes", "rect", "bar s-writers") == 4 + 1
    assert page.figures["s1-sizes"]["rows"][1:] == [["4,194,304", "8,388,607", "16"]]
    assert "4 of 4 ranks wrote; 16.00 MiB each" in page.figures["s1-bytes"]["text"]


def test_warm_ups_and_failures_are_shown_and_never_counted(tmp_path: Path) -> None:
    records = [*a_run(FAST), a_record(failed=True, run="run-a", repetition=7)]
    page = Page(page_of(tmp_path, records))
    assert page.count("s1-throughput", "circle", "hollow") == 1 + 1
    assert page.count("s1-throughput", "path", "s-failed") == 1 + 1
    assert page.count("s1-throughput", "circle", "mark s-durable") == 7 + 2
    kinds = [row[1] for row in page.figures["s1-throughput"]["rows"][1:]]
    assert kinds == ["warm-up", *["measured"] * 6, "failed"]
    middle = median(rates(FAST))
    assert f"median of 6: {middle:.1f} MiB/s" in page.figures["s1-throughput"]["text"]
    assert any("no_space: disk is full" in text for text in page.notices)


def test_nothing_left_after_the_warm_up(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, a_run(FAST)[:1]))
    assert any("No measured repetition is left (1 warm-up)" in text for text in page.notices)
    assert "s1-phases" not in page.figures and "s1-throughput" in page.figures
    assert "none measured" in page.text and "nan" not in page.text.lower()


def test_only_failures(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, [a_record(failed=True), a_record(failed=True, repetition=2)]))
    assert any("No measured repetition is left (2 failed)" in text for text in page.notices)
    assert any("2 repetitions failed" in text for text in page.notices)
    assert "s1-throughput" not in page.figures


def test_few_repetitions_have_no_interval(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, a_run(FAST[:5])))
    assert any("no 95 % interval" in text for text in page.notices)
    assert page.count("s1-throughput", "rect", "band") == 0
    page = Page(page_of(tmp_path, a_run(FAST)))
    assert not any("no 95 % interval" in text for text in page.notices)
    assert page.count("s1-throughput", "rect", "band") == 2 + 1


def test_lines_that_are_no_record_are_told(tmp_path: Path) -> None:
    lines: list[Any] = ["", '{"schema": "tailrace-rec', *a_run(FAST), "[1, 2]"]
    page = Page(page_of(tmp_path, lines))
    said = " ".join(page.notices)
    assert "1 empty line is left out: " in said and "results.jsonl:1" in said
    assert "1 damaged or truncated line is left out" in said
    assert "1 line that is no Record is left out" in said


def test_a_name_that_is_markup_does_nothing(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>]]>&amp;"
    records = a_run(FAST, configuration={"filename": evil, evil: evil})
    for record in records:
        record["kernel"] = evil
        record["context"] |= {"host": evil, "command": [evil], "environment": {"X": evil}}
        record["phases"][evil] = record["phases"]["write"]
        record["error"] = None
        record["transfers"]["mode"] = evil
        record["mpi_io"]["hints_requested"] = {evil: evil}
        record["file"]["settings"] = {evil: evil}
    other = a_run(SLOW, "run-b", configuration={evil: "2"})
    html = page_of(tmp_path, [*records, *other])
    page = Page(html)
    assert page.tags.count("script") == 1 and "img" not in page.tags
    assert not [name for _tag, name, _value in page.attributes if name.startswith("on")]
    assert evil in page.text
    assert len(pictures(html)) > 15, "every picture is well-formed XML"


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    assert page_of(tmp_path, two_settings()) == page_of(tmp_path, two_settings())


def test_groups_of_several_files_belong_together(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", a_run(FAST, "run-a"))
    two = written(tmp_path / "two.jsonl", a_run(SLOW, "run-b"))
    page = tmp_path / "report.html"
    made = called("report", one, two, "-o", page, "--json").expect(0).json
    assert (made["groups"], made["records"], made["measured"]) == (1, 14, 12)
    assert "2 runs" in Page(page.read_text()).text


def test_selections(tmp_path: Path) -> None:
    file = written(tmp_path / "results.jsonl", two_settings())
    words = ("-o", tmp_path / "report.html", "--json")
    made = called("report", f"{file}::collective_write=true", *words).expect(0).json
    assert (made["groups"], made["records"]) == (1, 7)
    both = [f"{file}::collective_write=true", f"{file}::run=run-a"]
    assert called("report", *both, *words).expect(0).json["records"] == 14
    wrong = called("report", f"{file}::collective_write=true", f"{file}::ranks=7", *words).expect(2)
    assert "no Record has ranks=7" in wrong.err


def test_what_and_where_in_two_sentences(tmp_path: Path) -> None:
    place = "on node1 (4 cores, Linux 6.1.0 x86_64), into ext4 at /data, with Open MPI 4.1.4, "
    one = " ".join(Page(page_of(tmp_path, a_run(FAST))).text.split())
    assert (
        "The kernel seism wrote 64.0 MiB of data in 4 time steps through HDF5 from 4 ranks with "
        "independent calls into a contiguous layout: 6 measured repetitions, 1 warm-up apart. "
        f"It ran {place}OMPIO 4.1.4, HDF5 2.2.0, on 2026-01-01." in one
    )
    assert (
        f"14 Records in 2 groups of equal settings; 12 measured repetitions. All ran {place}"
        in (" ".join(Page(page_of(tmp_path, two_settings())).text.split()))
    )
    elsewhere = [*a_run(FAST), *a_run(SLOW, "run-b", context={"host": "node2"})]
    assert "All ran" not in Page(page_of(tmp_path, elsewhere)).text


def test_kernels_side_by_side(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, [*a_run(FAST), *a_run(SLOW, "run-b", kernel="slab")]))
    assert "seism, slab in 2 settings" in page.text
    assert "The kernel slab wrote 64.0 MiB" in page.text


def test_the_limit_of_sections_is_told(tmp_path: Path) -> None:
    records = [
        record
        for number in range(30)
        for record in a_run((0.5,), f"run-{number}", configuration={"time": number + 1})
    ]
    page = Page(page_of(tmp_path, records))
    assert any("30 groups of equal settings: the first 24" in text for text in page.notices)
    assert len(page.figures["overview"]["rows"]) == 31
    assert "s24" in page.ids and "s25" not in page.ids


def test_csv_has_the_same_numbers(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, two_settings(), "--csv", tmp_path / "csv"))
    names = {file.stem for file in (tmp_path / "csv").glob("*.csv")}
    assert names == {*page.figures, "s1-repetitions", "s2-repetitions"}
    for name, figure in page.figures.items():
        with (tmp_path / "csv" / f"{name}.csv").open() as stream:
            rows = list(csv.reader(stream))
        assert rows[0] == figure["rows"][0] and len(rows) == len(figure["rows"])
        for row, shown in zip(rows[1:], figure["rows"][1:], strict=True):
            for cell, text in zip(row, shown, strict=True):
                if re.fullmatch(r"[\d,.]+", text):
                    assert float(cell) == pytest.approx(float(text.replace(",", "")), rel=1e-3)
                else:
                    assert cell == ("" if text == "–" else text)


def test_requested_and_what_happened(tmp_path: Path) -> None:
    records = a_run(FAST)
    for record in records:
        record["transfers"] |= {"collective_requested": True, "collective_actual": False,
                                "no_collective_cause": "filters"}  # fmt: skip
        record["mpi_io"] |= {"hints_requested": {"a": "1", "b": "2"},
                             "hints_in_force": {"a": "1"}}  # fmt: skip
    html = page_of(tmp_path, records)
    text = " ".join(Page(html).text.split())
    assert "Data transfers collective ✗ independent filters" in text
    assert "Hint a 1 ✓ 1 MPI_File_get_info" in text
    assert "Hint b 2 ✗ not in force" in text
    assert "Metadata reads independent not measured" in text


def test_verification_is_told(tmp_path: Path) -> None:
    records = a_run(FAST)
    for record in records[:6]:
        record["verification"] = {"status": "passed", "elements": 8, "wrong": 0, "first": []}
    records[6]["verification"] = {
        "status": "failed", "elements": 1000, "wrong": 2,
        "first": [{"object": "/chunked", "index": [0, 1, 2, 3], "expected": 1.5, "found": 0.0}],
    }  # fmt: skip
    said = " ".join(Page(page_of(tmp_path, records)).notices)
    assert "6 repetitions verified" in said
    assert "1 repetition with wrong elements. 2 of 1,000: /chunked[0, 1, 2, 3] is 0.0" in said


def test_json_says_where_and_how_much(tmp_path: Path) -> None:
    file = written(tmp_path / "results.jsonl", [*two_settings(), "half a line"])
    page = tmp_path / "report.html"
    made = called("report", file, "-o", page, "--json").expect(0).json
    assert made["report"] == str(page) and made["plots"] == 15 and made["sections"] == 2
    assert made["left_out"][0]["kind"] == "damaged" and made["left_out"][0]["count"] == 1
    assert json.dumps(made["csv"]) == "[]"


def test_patterns_of_reading_stand_beside_the_verification(tmp_path: Path) -> None:
    read = {
        "pattern": "plane", "bytes": 8 << 20, "requests": 4, "open_s": 0.1, "elapsed_s": 2.0,
        "rate_bytes_per_s": 4.0 * 2**20, "cache": "dropped",
        "cache_evidence": "0 of 9 pages of the file were in memory", "elements": 2097152,
        "wrong": 0,
    }  # fmt: skip
    records = [record | {"reads": [read]} for record in a_run(FAST)]
    text = Page(page_of(tmp_path, records)).text
    assert "Read in the pattern plane: 4.000 MiB/s in 4 requests, cache dropped" in text
    assert "2,097,152 elements checked, 0 wrong." in text
    wrong = [record | {"reads": [read | {"wrong": 3}]} for record in a_run(FAST)]
    assert "2,097,152 elements checked, 3 wrong." in Page(page_of(tmp_path, wrong)).text
