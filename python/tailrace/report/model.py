# SPDX-License-Identifier: Apache-2.0
"""What a page consists of. Everything shown is here first; the template only arranges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """Numbers stay numbers: the page rounds them, CSV has all digits. None: not measured."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Key:
    """A line of a legend: how the marks look, and what they are."""

    swatch: Markup
    words: str


@dataclass(frozen=True)
class Figure:
    """A plot with what it says in words, its legend and its numbers.

    name: unique on the page; the id of the picture and the name of its CSV file.
    note: what was left out or put together, where that was so. wide: over all columns of the page.
    """

    name: str
    title: str
    caption: str
    plot: Markup
    legend: Sequence[Key]
    table: Table
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Fact:
    """A name, a value, and what else is to be said of it."""

    name: str
    value: str
    more: str = ""


@dataclass(frozen=True)
class Wish:
    """What was asked for, what happened, and by what that is known."""

    subject: str
    asked: str
    happened: str
    met: bool | None  # None: not measured, or nothing was asked
    evidence: str = ""


@dataclass(frozen=True)
class Notice:
    """Something the reader has to know. kind: info, warning, bad."""

    kind: str
    words: str


@dataclass
class Section:
    """One group of equal settings."""

    name: str  # unique on the page, of letters and digits
    title: str
    what: str
    where: str
    headline: list[Fact]
    notices: list[Notice] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    repetitions: Table = field(default_factory=lambda: Table((), ()))
    repetitions_note: str = ""
    wishes: list[Wish] = field(default_factory=list)
    server: list[Fact] = field(default_factory=list)  # of a model: who writes for it, and how
    verification: list[Notice] = field(default_factory=list)
    commands: list[Fact] = field(default_factory=list)
    settings: list[Fact] = field(default_factory=list)
    context: list[Fact] = field(default_factory=list)


@dataclass
class Page:
    title: str
    summary: str
    made_by: str
    sources: list[str]
    notices: list[Notice]
    overview: list[Figure]
    sections: list[Section]

    def figures(self) -> list[Figure]:
        return [
            *self.overview,
            *(figure for section in self.sections for figure in section.figures),
        ]
