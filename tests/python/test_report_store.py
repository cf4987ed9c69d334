# SPDX-License-Identifier: Apache-2.0
"""Where a report is written, and what it never overwrites."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from own_namespace import not_run
from records import a_record, a_run, written
from report_pages import FAST
from tailrace_cli import called, tailrace


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return written(tmp_path / "results.jsonl", a_run(FAST))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_without_o_it_is_report_html_here(results: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    ran = tailrace("report", results, cwd=here).expect(0)
    assert ran.out.startswith("report.html: 1 group of equal settings, 7 Records, 7 plots")
    assert (here / "report.html").read_text().startswith("<!DOCTYPE html>")
    tailrace("report", results, cwd=here).expect(0)  # one of ours is made anew
    assert names(here) == ["report.html"]


def test_a_file_that_is_no_report_stays(results: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<html>my own page</html>")
    ran = called("report", results, "-o", mine).expect(2)
    assert "no report of tailrace; it is not overwritten" in ran.err and "hint" in ran.err
    assert mine.read_text() == "<html>my own page</html>"
    called("report", results, "-o", results).expect(2)
    assert results.read_text().count("\n") == 7


def test_a_folder_that_is_not_there(results: Path, tmp_path: Path) -> None:
    ran = called("report", results, "-o", tmp_path / "no" / "report.html").expect(2)
    assert f"{tmp_path / 'no'}: there is no such folder" in ran.err
    assert called("report", results, "-o", tmp_path).expect(2).err.count("is a folder") == 1


def test_a_folder_that_cannot_be_written(results: Path) -> None:
    if not Path("/proc/1").is_dir():
        not_run("needs /proc, a folder that nobody can write to")
    ran = called("report", results, "-o", "/proc/report.html").expect(2)
    assert "/proc: cannot be written" in ran.err


def test_a_failure_leaves_the_old_page_whole(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "report.html"
    called("report", results, "-o", page).expect(0)
    before = page.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = called("report", results, "-o", page).expect(1)
    assert "No space left on device" in ran.err
    assert page.read_bytes() == before
    assert names(tmp_path) == ["report.html", "results.jsonl"]


def test_bad_input_has_a_clear_word(tmp_path: Path) -> None:
    page = ("-o", tmp_path / "report.html")
    assert "no results file is given" in called("report").expect(2).err
    assert "cannot be read" in called("report", tmp_path / "none.jsonl", *page).expect(2).err
    empty = written(tmp_path / "empty.jsonl", [])
    assert "there is no Record" in called("report", empty, *page).expect(2).err
    newer = written(tmp_path / "newer.jsonl", [a_record(schema="tailrace-record/2")])
    ran = called("report", newer, *page).expect(2)
    assert "newer tailrace" in ran.err and "newer.jsonl:1" in ran.err
    assert not (tmp_path / "report.html").exists()


def test_quiet_and_help(results: Path, tmp_path: Path) -> None:
    ran = called("report", results, "-o", tmp_path / "report.html", "--quiet").expect(0)
    assert ran.out == "" and ran.err == ""
    shown = tailrace("report", "--help").expect(0).out
    assert all(word in shown for word in ("--output", "--csv", "--json", "--quiet"))
