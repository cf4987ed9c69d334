# SPDX-License-Identifier: Apache-2.0
"""The two sides of a comparison: which Records, and whether they can be compared at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tailrace.errors import TailraceError
from tailrace.results import Group, Problems, Record, ResultSet, Selection, group, read_results
from tailrace.results.texts import text_of

metrics = ("durable", "write", "aggregate")


@dataclass(eq=False)
class Side(Group):
    """Records of one side. name: A or B."""

    selection: Selection

    @property
    def lost(self) -> list[Record]:
        """Repetitions that failed, warm-ups apart."""
        return [record for record in self.failed if not record.warm_up]

    def texts(self, get: Callable[[Record], Any]) -> str:
        """What `get` says of the Records, each value once."""
        return ", ".join(dict.fromkeys(text_of(get(record)) for record in self.records))


@dataclass(frozen=True)
class Sides:
    """Both, and what else the files hold: A again, or lines that are no Record."""

    a: Side
    b: Side
    everything: list[Record]
    problems: Problems


def read_sides(a: Selection, b: Selection, metric: str) -> Sides:
    """Raises TailraceError where the two cannot be compared."""
    files: dict[object, ResultSet] = {}
    problems = Problems()
    for selection in (a, b):
        key = selection.path.resolve()
        if key not in files:
            files[key] = read_results([selection.path])
            problems.join(files[key].problems)
    sides = [
        Side(name, one.chosen(files[one.path.resolve()].records), one)
        for name, one in (("A", a), ("B", b))
    ]
    everything = [record for found in files.values() for record in found.records]
    for side in sides:
        _check_one_setting(side)
    _check_together(*sides)
    for side in sides:
        _check_has_figures(side, metric)
        _check_figures(side, metric)
    return Sides(sides[0], sides[1], everything, problems)


def _check_one_setting(side: Side) -> None:
    kernels = list(dict.fromkeys(record.kernel for record in side.records))
    if len(kernels) > 1:
        raise TailraceError(
            f"side {side.name} holds Records of several kernels: {', '.join(kernels)}",
            where=side.selection.text,
            hint=f"select one: {side.selection.path}::kernel={kernels[0]}",
        )
    groups = group(side.records)
    first = groups[0].settings
    mixed = [
        one
        for one in groups
        if one.settings.configuration != first.configuration
        or one.settings.context["ranks"] != first.context["ranks"]
    ]
    if mixed:
        names = [one.name for one in groups]
        shown = "; ".join(names[:4]) + ("; ..." if len(names) > 4 else "")
        condition = names[0].split(" ")[0]
        raise TailraceError(
            f"side {side.name} holds {len(groups)} settings ({shown}); a median over them says "
            "nothing",
            where=side.selection.text,
            hint=f"select one, for example {side.selection.path}::{condition}",
        )


def _check_together(a: Side, b: Side) -> None:
    if a.kernel != b.kernel:
        raise TailraceError(
            f"A is of the kernel {a.kernel}, B of {b.kernel}: they write different things, and "
            "their rates say nothing about each other",
            where="compare",
            hint="compare runs of one kernel",
        )
    of_a = {(record.source.resolve(), record.line) for record in a.records}
    of_b = {(record.source.resolve(), record.line) for record in b.records}
    shared = len(of_a & of_b)
    if shared:
        what = "are the same Records" if of_a == of_b else f"share {shared} Records"
        raise TailraceError(
            f"A and B {what}",
            where="compare",
            hint="select two parts of one file, for example FILE::run=ID or "
            "FILE::collective_write=true; `docs/user/results.md` has all keys",
        )


def _check_has_figures(side: Side, metric: str) -> None:
    if side.values(f"{metric}_bytes_per_s"):
        return
    count, without = len(side.records), len(side.timed)
    what = f"of {count} Record{'s' if count > 1 else ''} {len(side.warm_ups)} warm-up"
    what += f", {len(side.lost)} failed" + (f", {without} without a {metric} rate" * bool(without))
    raise TailraceError(
        f"no repetition is left on side {side.name} after the warm-up: {what}",
        where=side.selection.text,
        hint="`tailrace report` shows what the kernel limit measures, and --limit its ratios"
        if side.kernel == "limit"
        else f"the kernel {side.kernel} does not measure it; --metric chooses another rate"
        if without
        else "run more repetitions, for example repeat=6",
    )


def _check_figures(side: Side, metric: str) -> None:
    """Ratios and their logarithms want rates above 0; no program writes another."""
    for record in side.timed:
        rate = getattr(record, f"{metric}_bytes_per_s")
        if rate is not None and rate <= 0:
            raise TailraceError(
                f"the {metric} rate of a Record is {rate:g} bytes per second",
                where=record.where,
                hint="that line was changed or damaged: take it out of the file",
            )
