# SPDX-License-Identifier: Apache-2.0
"""Rewriting a file with another layout: looked at, priced, copied, verified, published."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py
from h5py import h5f

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import advice
from tailrace.repack import publish, target
from tailrace.repack.copier import Copier
from tailrace.repack.layout import Change, decided, shown
from tailrace.repack.memory import Memory
from tailrace.repack.opening import (
    check_contents,
    check_format,
    check_others,
    failed,
    opened,
    surveyed,
)
from tailrace.repack.price import Price, price_of, read_shapes
from tailrace.repack.reading import Reads, reads_in
from tailrace.repack.scratch import remove_left_over
from tailrace.repack.survey import Storage, Survey, survey
from tailrace.repack.wishes import Wishes, from_options, from_plan
from tailrace.units import plural
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.differences import CompareReport
from tailrace.verify.model import Shape
from tailrace.whole_files import lost

Meter = Callable[[int, int], None]
Meters = Callable[[str], AbstractContextManager[Meter]]
Plan = Path | str | Mapping[str, Any]


@dataclass
class Options:
    """What is wished besides a plan, and how it is done."""

    chunks: Sequence[str] = ()  # DATASET=AxB
    filters: Sequence[str] = ()  # DATASET=shuffle,deflate=4
    reads: Sequence[str] = ()  # DATASET=AxB: what a program reads at a time, for the price
    profile: Path | str | Mapping[str, Any] | None = None  # of a program that reads the file
    name: str = ""  # under which plan and profile know the file; "": its own
    memory: Memory = field(default_factory=Memory)
    dry_run: bool = False
    priced: bool = True


@dataclass
class Report:
    """What was done, or would be."""

    path: Path
    out: Path
    changes: list[Change] = field(default_factory=list)
    file_settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)  # that are read, by dataset
    price: Price | None = None
    done: bool = False
    objects: int = 0
    bytes_before: int = 0
    bytes_after: int | None = None
    copy_s: float = 0.0
    verify_s: float = 0.0
    elapsed_s: float = 0.0
    verified: CompareReport | None = None

    @property
    def nothing_to_do(self) -> bool:
        return not self.changes and not self.file_settings


DEFAULTS = Options()


def repack(
    path: Path | str,
    plan: Plan | None = None,
    out: Path | str | None = None,
    options: Options = DEFAULTS,
    *,
    hear: Callable[[Report], None] = lambda _report: None,
    meters: Meters = lambda _title: nullcontext(lambda _done, _total: None),
) -> Report:
    """Rewrites an HDF5 or netCDF-4 file with the chunks and settings of a plan.

    The old file stays untouched until the new one is whole, equal in content and synced.

    Args:
        path: the file.
        plan: a file of schema tailrace-plan/1, or such a document.
        out: where the new file goes; None: in place of the old one.
        hear: is told what will be done and what it costs, before it is done.
        meters: a context for each step, with what hears how far it is, in bytes.

    Raises:
        TailraceError: nothing was changed, and nothing is left behind.
    """
    started = time.perf_counter()
    real = Path(path).resolve()
    goal = real if out is None else Path(out).absolute()
    check_format(Path(path), real)
    if goal != real and goal.exists() and goal.samefile(real):
        goal = real
    seen = publish.stamp(real)
    name = options.name or str(real)
    report = Report(Path(path), Path(path) if out is None else Path(out))
    report.bytes_before = seen.size
    with opened(real) as source:
        found = surveyed(source, real)
        report.objects = found.objects
        options = replace(options, memory=replace(options.memory, objects=found.objects))
        reads = {} if options.profile is None else reads_in(options.profile, name, found.datasets)
        _decide(report, found, plan, options, name, reads)
        if report.nothing_to_do:
            report.elapsed_s = time.perf_counter() - started
            hear(report)
            return report
        check_contents(real, found, options.memory)
        if overrun := options.memory.overrun():
            report.notes.append(overrun)
        publish.check_places(real, goal)
        report.notes += check_others(real, goal, found)
        publish.check_nobody_writes(real)
        report.notes += remove_left_over(goal.parent)
        report.price = _priced(report, source, found, options, goal)
        hear(report)
        if not options.dry_run:
            _write(report, source, found, seen, goal, options, meters)
    report.elapsed_s = time.perf_counter() - started
    return report


def _decide(
    report: Report, found: Survey, plan: Plan | None, options: Options, name: str,
    reads: Mapping[str, Reads],
) -> None:  # fmt: skip
    wishes = Wishes()
    if plan is not None:
        where = "plan" if isinstance(plan, Mapping) else str(plan)
        document = plan if isinstance(plan, Mapping) else advice.load(Path(plan))
        from_plan(wishes, document, where, name, found.datasets)
        if wishes.others:
            report.notes.append(
                f"not settings of a file, but of each run (tailrace apply): "
                f"{', '.join(wishes.others)}"
            )
    from_options(wishes, options.chunks, options.filters, found.datasets)
    for dataset in found.datasets:
        seen = reads.get(dataset.path)
        wish = wishes.of(dataset.path)
        if seen is not None and wish.chunk is None and not wish.layout:
            wish.chunk = seen.chunk
            if wish.chunk is not None:
                wish.why.append(f"{plural(seen.calls, 'read')} of {shown(seen.extents)}")
            elif dataset.storage.layout in {"external", "virtual"}:
                report.notes.append(f"{dataset.path}: its elements are in other files")
            elif dataset.bytes >= 1 << 20:
                report.notes.append(f"{dataset.path}: its layout suits its reads already")
        change = decided(dataset, wish, options.memory, report.notes)
        if change is not None:
            report.changes.append(change)
    report.file_settings = wishes.file
    report.shapes = {path: seen.extents for path, seen in reads.items()}
    if report.changes:
        report.shapes |= read_shapes(options.reads, report.changes)


def _priced(
    report: Report, source: h5py.File, found: Survey, options: Options, goal: Path
) -> Price | None:
    """What it costs; raises where the disk has no room for it."""
    if not options.priced:
        publish.check_space(goal, report.bytes_before)
        return None
    # The sample takes some room too.
    publish.check_space(goal, min(report.bytes_before, 32 << 20))
    try:
        price = price_of(
            source, found, report.changes, report.shapes, options.memory, goal.parent
        )  # fmt: skip
    except (OSError, RuntimeError) as error:
        raise failed(Path(source.filename), goal.parent, error) from error
    publish.check_space(goal, price.need_bytes)
    return price


def _write(
    report: Report, source: h5py.File, found: Survey, seen: publish.Stamp, goal: Path,
    options: Options, meters: Meters,
) -> None:  # fmt: skip
    part = publish.part_of(goal)
    real = Path(source.filename)
    with publish.reserved(part):
        before = time.perf_counter()
        with meters(f"copying {real.name}") as tell:
            _copy(report, source, found, options, tell, part)
        target.copy_user_block(real, part, target.user_block_bytes(source))
        copied = time.perf_counter()
        report.copy_s = copied - before
        with meters(f"comparing {real.name}") as tell:
            _verify(report, real, part, options, tell)
        report.verify_s = time.perf_counter() - copied
        try:
            publish.keep_owner(real, part, goal == real)
            publish.publish(real, seen, part, goal)
        except OSError as error:
            raise lost(goal, error) from error
    report.bytes_after = goal.stat().st_size
    report.done = True


def _copy(
    report: Report, source: h5py.File, found: Survey, options: Options, tell: Meter, part: Path
) -> None:
    total = report.bytes_before + sum(
        max(0, change.dataset.bytes - change.dataset.stored_bytes) for change in report.changes
    )
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        tell(min(done, total), total)

    changes = {change.dataset.path: change for change in report.changes}
    try:
        made = target.make(part, source, found, report.file_settings)
        try:
            Copier(source, made, changes, options.memory, advance).run()
            h5f.flush(made)
        except BaseException:
            target.abandon(made, part)
            raise
        made.close()
    except (OSError, RuntimeError) as error:
        raise failed(Path(source.filename), part, error) from error


def _verify(report: Report, real: Path, part: Path, options: Options, tell: Meter) -> None:
    """The new file says the same, and has the layout that was wished."""
    memory = options.memory
    compare = CompareOptions(
        most=3, slab_bytes=memory.data_bytes // 10, cache_bytes=memory.data_bytes // 5
    )
    report.verified = compare_files(real, part, compare, tell)
    if not report.verified.ok:
        first = report.verified.first[0]
        raise TailraceError(
            f"the new file would differ: {first.where}: {first.one} became {first.other}",
            where=str(real), hint="the old file is untouched; please report this",
            code=ExitCode.VERIFICATION_FAILED,
        )  # fmt: skip
    with opened(part) as made:
        now = {dataset.path: dataset.storage for dataset in survey(made).datasets}
    for change in report.changes:
        if not _alike(now[change.dataset.path], change.new):
            raise TailraceError(
                f"{change.dataset.path} did not get the wanted layout", where=str(real),
                hint="the old file is untouched; please report this", code=ExitCode.RUN_FAILED,
            )  # fmt: skip


def _alike(one: Storage, other: Storage) -> bool:
    codes = [[step.code for step in storage.filters] for storage in (one, other)]
    return (one.layout, one.chunk, codes[0]) == (other.layout, other.chunk, codes[1])
