# SPDX-License-Identifier: Apache-2.0
"""Pages of reports for tests, and what stands in them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from records import a_run, written
from tailrace_cli import called

FAST, SLOW = (0.50, 0.52, 0.48, 0.51, 0.49, 0.50), (1.0, 1.1, 0.9, 1.0, 1.05, 0.95)


def two_settings() -> list[dict[str, Any]]:
    """Independent and collective writes, six measured repetitions each."""
    return [
        *a_run(FAST, "run-a"),
        *a_run(SLOW, "run-b", configuration={"collective_write": True}),
    ]


def page_of(folder: Path, records: list[Any], *words: str | Path) -> str:
    """The HTML that the command makes of these Records."""
    file = written(folder / "results.jsonl", records)
    called("report", file, "-o", folder / "report.html", *words).expect(0)
    return (folder / "report.html").read_text(encoding="utf-8")


class Page(HTMLParser):
    """Texts by where they stand: figures by id, table cells, notices, all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.figures: dict[str, dict[str, Any]] = {}
        self.text = ""
        self.notices: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self._figure = ""
        self._row: list[str] = []
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in values.items()]
        self._inside.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "figure":
            self._figure = values["id"]
            self.figures[self._figure] = {"rows": [], "header": [], "text": "", "marks": []}
        if self._figure:
            self.figures[self._figure]["marks"].append((tag, values.get("class", "")))
        if tag == "tr":
            self._row = []
        if tag in ("td", "th"):
            self._row.append("")
        if tag == "p" and values.get("class", "").startswith("notice"):
            self.notices.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass
        if tag == "td":
            self.text += " "
        if tag == "tr" and self._figure:
            self.figures[self._figure]["rows"].append(self._row)
        if tag == "figure":
            self._figure = ""

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self._inside):
            return
        self.text += data
        if self._figure:
            self.figures[self._figure]["text"] += data
        if {"td", "th"} & set(self._inside) and self._row:
            self._row[-1] += data
        if "p" in self._inside and self.notices:
            self.notices[-1] += data

    def count(self, figure: str, tag: str, words: str) -> int:
        """Elements of the plot and its legend that have all these classes."""
        wanted = set(words.split())
        return sum(
            name == tag and wanted <= set(classes.split())
            for name, classes in self.figures[figure]["marks"]
        )


def pictures(html: str) -> list[ET.Element]:
    """Every SVG picture of the page, parsed as XML."""
    found = []
    for part in html.split("<svg ")[1:]:
        found.append(ET.fromstring("<svg " + part.split("</svg>")[0] + "</svg>"))
    return found
