# SPDX-License-Identifier: Apache-2.0
"""The page of a sweep and of a scaling in headless Chromium: plots, words, contrast."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser
from records import one_wrote, written
from swept import Settings, scaled, swept, writers
from tailrace_cli import called

LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
FACTORS = {"collective_write": ["on", "off"], "chunk": ["360x128x128", "none"]}
FIGURES = ("sweep-ranked", "sweep-effects", "sweep-two", "sweep-phases", "sweep-lines", "scaling")


def seconds(one: Settings) -> float:
    slow = one["collective_write"] == "on"
    return 0.05 * (1.6 if slow else 1.0) * (1.4 if slow and one["chunk"] == "none" else 1.0)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    records = swept(
        FACTORS, seconds,
        parts=lambda one: {"writers": writers(4, 1 if one["collective_write"] == "on" else 4, 24)},
    )  # fmt: skip
    for record in records:
        record["time_lines"] = one_wrote(record["elapsed"]["durable_s"])
    records += scaled([1, 2, 3, 4, 8], lambda ranks: 0.02 + 0.01 * ranks)
    file = written(folder / "results.jsonl", records)
    called("report", file, "-o", folder / "report.html").expect(0)
    return folder / "report.html"


def test_the_plots_are_there_and_nothing_is_complained_about(browser: Browser, page: Path) -> None:
    browser.console()
    browser.show(page)
    marks = browser.run(
        "return arguments[0].map(id => document.querySelectorAll("
        "`#${id} svg.plot .mark, #${id} svg.plot .bar, #${id} svg.plot .curve`).length)",
        list(FIGURES),
    )
    #   4 bars; 2 effects; 4 cells; 4 phases of 4; 4 ranks of 2 phases in 3 combinations;
    #   5 x 8 points and two curves
    assert marks == [4, 2, 4, 16, 24, 42]
    text = browser.run("return document.querySelector('#sweep-effects').innerText")
    assert "1 of 4 ranks wrote everything (24 calls" in text
    text = browser.run("return document.querySelector('#scaling').innerText")
    assert "extrapolated, not measured" in text and "more ranks than cores" in text
    assert browser.console() == []


def test_time_lines_stand_side_by_side_where_there_is_room(browser: Browser, page: Path) -> None:
    for width, columns in ((320, 1), (700, 2), (1200, 3)):
        browser.show(page, width=width)
        left = browser.run(
            "return [...document.querySelectorAll('#sweep-lines svg.plot')]"
            ".map(s => s.getBoundingClientRect().left)"
        )
        assert len(left) == 3 and len(set(left)) == columns, width


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1200, True)])
def test_words_do_not_touch_and_stand_out(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.show(page, width=width, dark=dark)
    browser.run(LOOKS)
    found = browser.run("return looks.collisions()")
    assert found["looked"] > 100 and found["found"] == []
    assert browser.run("return looks.faint()")["found"] == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
