# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium: plots, no complaints, widths, contrast, folds, print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from records import MIB, a_record, a_run, time_lines, with_limit, written
from report_pages import FAST, two_settings
from tailrace_cli import called

LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
WIDTHS = (320, 360, 768, 1200)
EVIL = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'


def varied() -> list[Any]:
    """Warm-ups, a failure, a hostile name, uneven ranks, long names, tiny and huge figures."""
    limits = {"file_per_rank": 900.0, "file_per_rank_fsync": 200.0, "mpi_io_fsync": 20000.5}
    records: list[Any] = [
        *(with_limit(record, limits) for record in two_settings()),
        a_record(failed=True, run="run-a", repetition=7), "",
    ]  # fmt: skip
    for record in records[:7]:
        read = [("read_back", 0.5, 0.6), ("read", 0.6, 0.9), ("read_back", 0.9, 1.0)]
        first = [("create", 0.0, 0.05), ("write", 0.05, 0.5), *read]
        record["time_lines"] = time_lines([first, *[[("agree", 0.1, 0.5), *read]] * 3])
    records += a_run((0.0004, 900.0, 0.5), "run-c", ranks=96, configuration={
        "filename": EVIL, "chunk": [64, 64, 256], "hint": {"romio_cb_write_and_a_long_name": EVIL},
    })  # fmt: skip
    for record in records[-4:]:
        step = [("write", 0.0, 0.1), ("agree", 0.1, 0.3), ("sync", 0.3, 0.4), ("compute", 0.4, 0.9)]
        line = [(name, n + start, n + end) for n in range(16) for name, start, end in step]
        record["time_lines"] = time_lines(
            [line] * 64, ranks=list(range(0, 96 * 100, 150)), resolution_s=0.01, uncertainty_s=1e-5
        )
        record["context"]["host"] = "a-very-long-host-name-without-any-blank" * 3
        record["phases"]["agree"] = {"min_s": 1e-7, "mean_s": 3.0, "max_s": 60.0, "entries": 9}
        for rank, writer in enumerate(record["writers"]["list"]):
            writer["bytes_done"] = rank * rank * MIB
            writer["by_size"] = {str(1 << size): 10**size % 999983 for size in range(0, 26, 2)}
        record["steps"] = [
            {"step": step, "write_s": {"min": 0.1, "mean": 0.1, "max": 0.1 + step % 7}}
            for step in range(1024)
        ]
    return records


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    file = written(folder / "results.jsonl", varied())
    called("report", file, "-o", folder / "report.html").expect(0)
    return folder / "report.html"


@pytest.fixture
def shown(browser: Browser, page: Path) -> Browser:
    browser.show(page)
    browser.run(LOOKS)
    return browser


def test_the_plots_are_there(shown: Browser) -> None:
    boxes = shown.run(
        "return [...document.querySelectorAll('svg.plot')].map(s => [s.closest('figure').id,"
        " s.getBoundingClientRect().width, s.getBoundingClientRect().height,"
        " s.querySelectorAll('.mark, .bar, .curve, .range').length])"
    )
    assert len(boxes) == 1 + 3 * 7 + 2 + 3
    for name, width, height, marks in boxes:
        assert width > 300 and height > 80, name
        assert marks > 0, f"{name} is empty"


def test_nothing_is_complained_about(browser: Browser, page: Path) -> None:
    browser.console()
    for dark in (False, True):
        browser.show(page, dark=dark)
        assert browser.console() == []


def test_names_do_not_run(shown: Browser) -> None:
    assert shown.run("return document.body.innerText.includes(arguments[0])", "onerror") is True
    assert shown.run("return window.broken === undefined") is True
    assert shown.run("return document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_no_scrolling_to_the_side(browser: Browser, page: Path, width: int) -> None:
    browser.show(page, width=width)
    for opened in ("false", "true"):
        browser.run(f"document.querySelectorAll('details').forEach(d => d.open = {opened})")
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} pixels, folds open: {opened}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_texts_stand_out(browser: Browser, page: Path, dark: bool, media: str) -> None:
    browser.show(page, dark=dark, media=media)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.run(LOOKS)
    found = browser.run("return looks.faint()")
    assert found["looked"] > 1000
    assert found["found"] == []
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    white = media == "print" or not dark
    assert (ground == "rgb(255, 255, 255)") == white, ground


@pytest.mark.parametrize("width", WIDTHS)
def test_no_words_touch(browser: Browser, page: Path, width: int) -> None:
    browser.show(page, width=width)
    browser.run(LOOKS)
    found = browser.run("return looks.collisions()")
    assert found["looked"] > 200
    assert found["found"] == []


def test_fills_differ(shown: Browser) -> None:
    """Phases of a stack are told apart by more than their place."""
    fills = shown.run(
        "return [...document.querySelectorAll('#s3-phases .swatch rect')]"
        ".map(r => getComputedStyle(r).fill)"
    )
    assert len(fills) >= 4 and len(set(fills)) == len(fills)


def test_folds_open(shown: Browser) -> None:
    assert shown.run("return looks.visible('#s1-throughput td')") == 0
    shown.run("document.querySelector('#s1-throughput summary').click()")
    assert shown.run("return looks.visible('#s1-throughput td')") > 20
    shown.run("document.querySelector('#s1-throughput summary').click()")
    assert shown.run("return looks.visible('#s1-throughput td')") == 0


def test_commands_can_be_copied(shown: Browser) -> None:
    shown.run("document.querySelector('.command button').click()")
    said = shown.driver.execute_async_script(
        "const done = arguments[0];"
        "setTimeout(() => done([document.querySelector('.command button').textContent,"
        " getSelection().toString()]), 300)"
    )
    assert said[0] == "Copied" or (said[0] == "Selected" and said[1].startswith("tailrace run"))


def test_print_shows_everything(browser: Browser, page: Path) -> None:
    browser.show(page, dark=True, media="print")
    browser.run(LOOKS)
    cells = browser.run("return document.querySelectorAll('td').length")
    assert browser.run("return looks.visible('td')") == cells > 1000
    assert browser.run("return looks.visible('button, summary')") == 0
    browser.show(page)
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 5
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0


def test_without_scripts_everything_is_there(browser: Browser, page: Path) -> None:
    """Only the copy button and the folds of old browsers in print need one."""
    plain = page.with_name("plain.html")
    plain.write_text(re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL))
    browser.show(plain)
    browser.run(LOOKS)
    assert browser.run("return looks.visible('svg.plot')") == 1 + 3 * 7 + 2 + 3
    browser.run("document.querySelector('#s1-throughput summary').click()")
    assert browser.run("return looks.visible('#s1-throughput td')") > 20


def test_one_setting_has_no_index(browser: Browser, tmp_path: Path) -> None:
    file = written(tmp_path / "results.jsonl", a_run(FAST))
    called("report", file, "-o", tmp_path / "report.html").expect(0)
    browser.show(tmp_path / "report.html", width=360)
    assert browser.run("return document.querySelectorAll('nav, #overview').length") == 0
    assert browser.run("return document.querySelectorAll('svg.plot').length") == 7
