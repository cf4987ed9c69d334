# SPDX-License-Identifier: Apache-2.0
"""The time lines of the ranks in the best, the worst and the default combination of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from tailrace.report import numbers
from tailrace.report.lanes import legend, notes, picture, table
from tailrace.report.model import Figure
from tailrace.report.plots import svg
from tailrace.report.time_lines import Lines, capital, sentence, writing
from tailrace.sweep.data import Setting
from tailrace.sweep.findings import Findings
from tailrace.sweep.ranking import Ranked
from tailrace.units import grouped

_most_lanes = 16  # in each picture: three stand side by side
_as_it_is = frozenset({"none", "off", "0", "no", "false"})  # values: not set, or switched off


@dataclass
class _Panel:
    roles: list[str]
    ranked: Ranked
    lines: Lines

    @property
    def name(self) -> str:
        return f"{' and '.join(self.roles)}: {self.ranked.case.shown.removesuffix(' (default)')}"


def beside(found: Findings) -> Figure | None:
    """None where no Record has time lines: older ones do not."""
    panels = _panels(found)
    if not panels:
        return None
    last_s = max(panel.lines.end_s for panel in panels)
    unit = numbers.TimeUnit([last_s])
    title = "Time lines of the ranks"
    caption = (
        "What each rank did when, of the repetition with the median time, from the create to the "
        "end of the file; all pictures have the same axis."
    )
    parts = [_drawn(panel, number, unit, last_s) for number, panel in enumerate(panels, 1)]
    more = {note: None for panel in panels for note in notes(panel.lines, unit)}
    if any(len(panel.lines.lines) > _most_lanes for panel in panels):
        more[f"{_most_lanes} of the ranks are drawn; the table has all lines there are."] = None
    numbers_of_it = table([(panel.ranked.case.shown, panel.lines) for panel in panels])
    return Figure(
        "sweep-lines", title, caption, svg.element("div", *parts, class_="panels"),
        legend([panel.lines for panel in panels]), numbers_of_it, " ".join(more),
        wide=True,
    )  # fmt: skip


def _drawn(panel: _Panel, number: int, unit: numbers.TimeUnit, last_s: float) -> Markup:
    said = sentence(panel.lines)
    name = f"sweep-lines-{number}"
    plot = picture(name, panel.name, said, _some(panel.lines), unit, last_s)
    head = svg.element("p", capital(panel.name))
    return svg.element("div", head, plot, svg.element("p", said, class_="note"))


def _panels(found: Findings) -> list[_Panel]:
    """The best first; one that is two of them stands once."""
    wanted = [("best", found.ranked[0]), ("worst", found.ranked[-1])]
    default = default_of(found.ranked)
    if default is not None:
        wanted.append(default)
    panels: list[_Panel] = []
    for role, ranked in wanted:
        same = [panel for panel in panels if panel.ranked is ranked]
        if same:
            same[0].roles.append(role)
            continue
        lines = writing(ranked.case.typical().full())
        if lines is not None:
            panels.append(_Panel([role], ranked, lines))
    return panels


def default_of(ranked: Sequence[Ranked]) -> tuple[str, Ranked] | None:
    """The combination in which the most factors are not set or switched off, and what it may be
    called; of several the one that has most in common with the best. None: nothing varied has such
    a value."""
    known = [one for one in ranked if one.case.default]
    if known:
        return "default", known[0]
    best = set(ranked[0].case.settings)
    most = max(ranked, key=lambda one: (_left_alone(one), len(best & set(one.case.settings))))
    count = _left_alone(most)
    if count == 0:
        return None
    factors = len(most.case.settings)
    if count == factors:
        return "default", most
    return f"nearest to the defaults ({count} of {grouped(factors)} factors)", most


def _left_alone(one: Ranked) -> int:
    return sum(_is_default(setting) for setting in one.case.settings)


def _is_default(setting: Setting) -> bool:
    return setting.value.lower() in _as_it_is


def _some(lines: Lines) -> Lines:
    places = numbers.spread(len(lines.lines), _most_lanes)
    return replace(lines, lines=[lines.lines[place] for place in places])
