# SPDX-License-Identifier: Apache-2.0
"""The sessions as a page to look at: ratios with their intervals beside the goals, and memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tailrace.report import swatches
from tailrace.report.model import Fact, Figure, Key, Notice, Page, Section, Table
from tailrace.report.page import render
from tailrace.report.plots import bars
from tailrace.report.store import check_target, write_text
from tailrace.units import mebi, plural

from .judge import verdict

Json = dict[str, Any]


def write(sessions: Sequence[Json], path: Path) -> None:
    """One section per session, the newest first. An older report is replaced in one step."""
    check_target(path)
    write_text(path, render(page_of(sessions)))


def page_of(sessions: Sequence[Json]) -> Page:
    newest_first = sorted(sessions, key=lambda one: one["session"], reverse=True)
    hosts = sorted({one["context"]["host"] for one in sessions})
    return Page(
        title=f"Benchmarks of Tailrace on {', '.join(hosts)}",
        summary=f"{plural(len(sessions), 'session')}, the newest first. A goal is met when the "
        "lower end of the interval meets it in two separate sessions.",
        made_by="bench/run.py",
        sources=[f"{one['session']}.json" for one in newest_first],
        notices=[],
        overview=[],
        sections=[_section(number, one) for number, one in enumerate(newest_first, 1)],
    )


def _section(number: int, session: Json) -> Section:
    cases = session["cases"]
    ratios = [case for case in cases if "interval" in case]
    memory = [case for case in cases if "peak_above_init_bytes" in case]
    met = sum(case["goal"]["met"] is True for case in cases)
    settings, context = session["settings"], session["context"]
    figures = []
    if ratios:
        figures.append(_ratios(f"s{number}-ratios", ratios))
    if memory:
        figures.append(_memory(f"s{number}-memory", memory))
    return Section(
        name=f"s{number}",
        title=f"Session {session['session']}",
        what=f"{plural(len(cases), 'case')}, {plural(settings['ranks'], 'rank')}, "
        f"{plural(settings['pairs'], 'pair')} in turns, each arm in a fresh folder.",
        where=f"It ran on {context['host']} ({context['cores']} cores, Linux "
        f"{context['os_kernel']}), with {context['mpi']} and HDF5 {context['hdf5']}.",
        headline=[
            Fact("Goals met", f"{met} of {len(cases)}"),
            Fact("Load at the start", f"{context['load_1m']:.2f}"),
        ],
        notices=[_missed(case) for case in cases if case["goal"]["met"] is not True],
        figures=figures,
        repetitions=_rates([case for case in ratios if "unit" not in case]),
        repetitions_note="Durable MB/s (10^6 bytes per second) of both arms: min, median, max.",
        commands=[Fact("All suites again", "make bench")],
        settings=[Fact(key, str(value)) for key, value in settings.items()],
        context=[Fact(key, str(value)) for key, value in context.items()],
    )


def _missed(case: Json) -> Notice:
    return Notice("warning", f"{case['name']}: {verdict(case['goal'])}.")


def _pair_ratios(case: Json) -> list[float]:
    arms = zip(case["arms"]["baseline"], case["arms"]["candidate"], strict=True)
    key = "per_s" if "unit" in case else "durable_bytes_per_s"  # whole commands, or bytes
    return [candidate[key] / baseline[key] for baseline, candidate in arms]


def _ratios(name: str, cases: Sequence[Json]) -> Figure:
    rows = []
    for case in cases:
        low, high = case["interval"]
        words = f"{case['median_ratio']:.3f}"
        rows.append(
            bars.Row(
                case["name"],
                words,
                case["median_ratio"],
                low,
                high,
                _pair_ratios(case),
                case["goal"]["bound"],
                f"{case['name']}: {words} [{low:.3f}, {high:.3f}]",
                "s-durable",
            )
        )
    title = "Rate by that of the baseline"
    caption = "Above 1 the candidate is faster. A goal is met where the interval begins above it."
    legend = [
        Key(swatches.bar("s-durable"), "median of the ratios of the pairs"),
        Key(swatches.whisker(), "95 % interval of the median"),
        Key(swatches.point("circle", "single"), "single pairs"),
        Key(swatches.level("limit"), "goal"),
    ]
    table = Table(
        ("case", "ratio", "low", "high", "goal", "A/A", "verdict"),
        [
            (
                case["name"], case["median_ratio"], *case["interval"], case["goal"]["bound"],
                case["same"]["median_ratio"], verdict(case["goal"]),
            )
            for case in cases
        ],
    )  # fmt: skip
    said = "; ".join(row.tip for row in rows)
    plot = bars.lying(name, title, f"{caption} {said}.", rows, "ratio")
    return Figure(name, title, caption, plot, legend, table)


def _memory(name: str, cases: Sequence[Json]) -> Figure:
    rows, lines = [], []
    for case in cases:
        peak, limit = case["peak_above_init_bytes"] / mebi, case["limit_bytes"] / mebi
        words = f"{peak:.1f} MiB"
        rows.append(
            bars.Row(
                case["name"].removeprefix("memory, "), words, peak, None, None, (), limit,
                f"{case['name']}: {words} of {limit:.1f} MiB", "s-durable",
            )
        )  # fmt: skip
        lines.append((case["name"], case["data_bytes"] / mebi, peak, limit, verdict(case["goal"])))
    title = "Memory of a rank above the process after MPI_Init"
    caption = "The greatest over ranks and runs; allowed are the data, 10 % and 64 MiB."
    legend = [
        Key(swatches.bar("s-durable"), "peak"),
        Key(swatches.level("limit"), "allowed"),
    ]
    table = Table(("case", "data, MiB", "peak, MiB", "allowed, MiB", "verdict"), lines)
    said = "; ".join(row.tip for row in rows)
    plot = bars.lying(name, title, f"{caption} {said}.", rows, "MiB")
    return Figure(name, title, caption, plot, legend, table)


def _rates(cases: Sequence[Json]) -> Table:
    def three(case: Json, arm: str) -> tuple[float, float, float]:
        low, middle, high = (case["summary"][arm][key] / 1e6 for key in ("min", "median", "max"))
        return low, middle, high

    return Table(
        ("case", "baseline min", "median", "max", "candidate min", "median", "max"),
        [(case["name"], *three(case, "baseline"), *three(case, "candidate")) for case in cases],
    )


def sessions_in(folder: Path) -> list[Json]:
    """The sessions of a folder, oldest first."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
