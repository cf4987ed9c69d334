# SPDX-License-Identifier: Apache-2.0
"""From Records to a page, and from a page to HTML."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tailrace.report import many, numbers
from tailrace.report.limit import limit_of
from tailrace.report.model import Notice, Page, Section
from tailrace.report.overview import most_rows, overview
from tailrace.report.sections import section
from tailrace.report.sentences import counts, summary, where_all
from tailrace.report.view import View
from tailrace.results import Group, ResultSet, group
from tailrace.units import grouped, plural

most_sections = 24

# By this a file is known as ours, so that no other is overwritten.
generator = "tailrace report"


def views(found: ResultSet) -> list[View]:
    """One for each group of equal settings, in the order of the files."""
    return [View(f"s{number}", one) for number, one in enumerate(group(found.records), 1)]


def build(
    found: ResultSet, all_views: list[View], made_by: str, done: Callable[[int, int], None]
) -> Page:
    """`done` hears how many of how many sections are made."""
    shown = all_views[:most_sections]
    sections: list[Section] = []
    limits = [limit_of(view) if place < most_rows else None for place, view in enumerate(all_views)]
    for number, view in enumerate(shown, 1):
        sections.append(section(view, view.group.name, limits[number - 1]))
        done(number, len(shown))
    groups = [view.group for view in all_views]
    several = len(groups) > 1
    figures, notices = many.figures(found.records)
    return Page(
        title=_title(groups),
        summary=_summary(all_views),
        made_by=made_by,
        sources=[str(source) for source in found.sources],
        notices=[*_notices(found, len(groups)), *notices],
        overview=[*figures, *([overview(all_views, limits)] if several else [])],
        sections=sections,
    )


def _title(groups: list[Group]) -> str:
    if len(groups) == 1:
        return groups[0].name
    kernels = sorted({one.kernel for one in groups})
    hosts = sorted({str(one.settings.context["host"]) for one in groups})
    place = hosts[0] if len(hosts) == 1 else plural(len(hosts), "host")
    return f"{', '.join(kernels)} in {len(groups)} settings on {place}"


def _summary(all_views: list[View]) -> str:
    if len(all_views) == 1:
        return f"{counts(all_views[0])}. {summary(all_views[0])}"
    records = sum(len(view.group.records) for view in all_views)
    timed = sum(len(view.timed) for view in all_views)
    return (
        f"{plural(records, 'Record')} in {plural(len(all_views), 'group')} of equal settings; "
        f"{plural(timed, 'measured repetition')}. {where_all(all_views)}"
    ).strip()


def _notices(found: ResultSet, groups: int) -> list[Notice]:
    """What concerns the reading."""
    said = [Notice("warning", f"{text}.") for text in found.problems.texts()]
    if groups > most_sections:
        words = (
            f"{grouped(groups)} groups of equal settings: the first {most_sections} have a "
            "section, the table of the overview has all. A selection shows others: "
            "results.jsonl::key=value."
        )
        said.append(Notice("info", words))
    return said


def render(page: Page) -> str:
    """Self-contained HTML; the same page gives the same bytes."""
    script = _resource("script.js")
    environment = Environment(
        loader=PackageLoader("tailrace.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = numbers.cell
    environment.tests["numeric"] = lambda value: value is None or isinstance(value, int | float)
    return environment.get_template("page.html.j2").render(
        page=page,
        generator=generator,
        style=style(),
        script=Markup(script),
        script_hash=b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def style() -> Markup:
    """The style sheet of our pages."""
    return Markup(_resource("style.css"))


def _resource(name: str) -> str:
    """Our own text, without anything that could end the element it stands in."""
    return files("tailrace.report").joinpath("templates", name).read_text(encoding="utf-8")
