# SPDX-License-Identifier: Apache-2.0
"""The page of a tune: before and after, rules, evidence, proof, and the lines to change instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tailrace.intent import snippets
from tailrace.report.page import style
from tailrace.tune.words import (
    apply_command,
    chunk_text,
    content_text,
    itself_text,
    repack_text,
    speed_text,
    title_of,
)

Document = dict[str, Any]

_width, _row, _left = 480, 18, 10


def render(result: Document, plan: Document | None) -> str:
    """Self-contained HTML.

    Args:
        result: of schema tailrace-tune/1.
        plan: what was kept; None: nothing was.
    """
    environment = Environment(
        loader=PackageLoader("tailrace.tune"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    command = shlex.join(result["argv"])
    report = result["content"]["report"]
    pairs = result["times"]["pairs_s"]
    return environment.get_template("tune.html.j2").render(
        result=result,
        title=title_of(result),
        command=command,
        style=style(),
        content=content_text(result),
        speed=speed_text(result),
        itself=itself_text(result),
        picture=picture(pairs) if pairs else "",
        notes=[*result["notes"], *(report["notes"] if report else [])],
        rules=[_rule(rule) for rule in result["rules"]],
        in_force=[_line(line) for line in result["in_force"]],
        held_back=[(one["rule"], one["guard"], one["reason"]) for one in result["held_back"]],
        apply=apply_command(result),
        repack=_repack(result["repack"]) if result["repack"] else None,
        snippets=_snippets(plan) if plan is not None else [],
        runs=[_run(run) for run in result["runs"]],
    )


def picture(pairs: Sequence[Sequence[float]]) -> Markup:
    """A line for each pair, from the default's time to the tuned one's."""
    longest = max(max(pair) for pair in pairs)
    height = _row * len(pairs) + 36

    def at(seconds: float) -> str:
        return f"{_left + (_width - 2 * _left) * seconds / longest:.1f}"

    parts = [
        f'<svg class="plot" viewBox="0 0 {_width} {height}" role="img" '
        f'aria-label="Seconds of each pair of runs, 0 to {longest:.3g}">'
    ]
    bottom = height - 28
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = at(share * longest)
        where = f'x="{x}" y="{bottom + 16}" text-anchor="{anchor}"'
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>')
        parts.append(f'<text class="tick" {where}>{share * longest:.3g} s</text>')
    for number, (default, tuned) in enumerate(pairs):
        y = _row * number + _row // 2
        ends = f'x1="{at(tuned)}" x2="{at(default)}" y1="{y}" y2="{y}"'
        parts.append(f'<line class="between" {ends}/>')
        parts.append(f'<circle class="mark hollow default" cx="{at(default)}" cy="{y}" r="4.5"/>')
        parts.append(f'<circle class="mark tuned" cx="{at(tuned)}" cy="{y}" r="4.5"/>')
    return Markup("".join(parts) + "</svg>")


def _repack(arm: Document) -> Document:
    pairs = arm["pairs_s"]
    return {
        "text": repack_text(arm),
        "chunks": [
            (file["path"], chunk_text(dataset))
            for file in arm["files"]
            for dataset in file["datasets"]
        ],
        "commands": [file["command"] for file in arm["files"]],
        "is_faster": arm["became"] == "faster",
        "content": arm["content"]["what"] if arm["content"] else "nothing",
        "picture": picture(pairs) if pairs else "",
    }


def _rule(rule: Document) -> tuple[str, ...]:
    without = f"{rule['without_it']:.3g} times as long" if rule["without_it"] else "not measured"
    became = "kept" if rule["kept"] else f"left out: {rule['reason']}"
    return (rule["rule"], ", ".join(rule["settings"]), became, without, rule["why"], rule["effect"])


def _line(line: Document) -> tuple[str, ...]:
    became = f"{line['became']}: {line['reason']}" if line["reason"] else line["became"]
    return (line["rule"], line["setting"], line["value"], became, ", ".join(line["places"]))


def _run(run: Document) -> tuple[str, ...]:
    times = (f"{run[key]:.3f}" for key in ("elapsed_s", "run_s", "sync_s"))
    code = f"{run['code']}, ended ({run['stopped']})" if run["stopped"] else str(run["code"])
    return (run["name"], *times, code)


def _snippets(plan: Document) -> list[tuple[str, str]]:
    """Of each kind in which the plan can be said."""
    return [(kind, snippets.snippet(kind, plan)) for kind in snippets.kinds_with_lines(plan)]
