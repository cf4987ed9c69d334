# SPDX-License-Identifier: Apache-2.0
"""A section: everything about one group of equal settings."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from statistics import median

from tailrace.report import checks, numbers, phases, sentences, serving
from tailrace.report.lanes import time_lines
from tailrace.report.limit import Limit, beside_the_limit
from tailrace.report.model import Cell, Fact, Section, Table
from tailrace.report.repeat import repeat_command
from tailrace.report.steps import steps
from tailrace.report.throughput import kind, most_points, throughput
from tailrace.report.view import Json, View
from tailrace.report.wishes import wishes
from tailrace.report.writers import writers
from tailrace.results import Record
from tailrace.results.texts import text_of
from tailrace.statistics import median_interval
from tailrace.units import grouped, mib, plural


def section(view: View, title: str, limit: Limit | None) -> Section:
    """With all its figures."""
    full = view.full
    plots = [
        throughput(view, limit), beside_the_limit(view), serving.waiting(view),
        phases.stacked(view), steps(view), serving.files(view),
        phases.imbalance(view), *time_lines(view),
        *writers(view),
    ]  # fmt: skip
    table, note = _repetitions(view)
    return Section(
        name=view.name,
        title=title,
        what=sentences.what(view),
        where=sentences.where(view),
        headline=_headline(view, limit),
        notices=checks.notices(view),
        figures=[plot for plot in plots if plot is not None],
        repetitions=table,
        repetitions_note=note,
        wishes=wishes(full) if full["file"]["parts"] else [],
        server=serving.facts(view),
        verification=checks.verification(view),
        commands=_commands(full),
        settings=[Fact(key, text_of(value)) for key, value in full["configuration"].items()],
        context=_context(full),
    )


def _headline(view: View, limit: Limit | None) -> list[Fact]:
    """What is looked at first."""
    found = []
    for attribute, name in (("durable_bytes_per_s", "Durable"), ("write_bytes_per_s", "Raw")):
        values = view.values(attribute)
        interval = median_interval(values)
        words = numbers.rate(median(values)) if values else "none measured"
        said = f"95 %: {numbers.rate_range(*interval)}" if interval else ""
        found.append(Fact(f"{name}, median", words, said))
    if limit:
        values = view.values("durable_bytes_per_s")
        said = f"durable is {median(values) / limit.bytes_per_s:.2f} of it" if values else ""
        found.append(Fact("Limit of the machine", numbers.rate(limit.bytes_per_s), said))
    times = view.values("durable_s")
    if times:
        said = numbers.range_of(times, numbers.seconds)
        found.append(Fact("Durable total, median", numbers.seconds(median(times)), said))
    found += serving.headline(view)
    record = view.typical
    if record.ranks_that_wrote is not None:
        ranks = view.full["context"]["ranks"]
        words = f"{record.ranks_that_wrote} of {ranks}"
        said = f"{plural(record.calls, 'write call')}, metadata among them"
        found.append(Fact("Ranks that wrote", words, said))
    return found


def repetition_rows(view: View, places: Sequence[int]) -> Table:
    """The repetitions at these places, with what each measured."""
    rows = [_repetition(view.group.records[place], place + 1) for place in places]
    columns = (
        "number", "run", "repetition", "kind", "started", "durable (MiB/s)", "raw (MiB/s)",
        "aggregate (MiB/s)", "durable total (s)", "write (s)", "logical (bytes)",
        "stored (bytes)", "allocated (bytes)", "ranks that wrote", "write calls", "verification",
        "load", "dirty at start (bytes)",
    )  # fmt: skip
    return Table(columns, rows)


def _repetition(record: Record, number: int) -> list[Cell]:
    rates = (
        record.durable_bytes_per_s, record.write_bytes_per_s, record.aggregate_bytes_per_s,
    )  # fmt: skip
    counted = record.ranks_that_wrote is not None
    return [
        number, record.run_id, record.repetition, kind(record), record.started,
        *(numbers.mib_per_s(rate) for rate in rates),
        record.durable_s, record.write_s, record.logical_bytes, record.stored_bytes,
        record.allocated_bytes, record.ranks_that_wrote, record.calls if counted else None,
        record.verification.replace("_", " "), record.load_1m, record.dirty_bytes,
    ]  # fmt: skip


def _repetitions(view: View) -> tuple[Table, str]:
    count = len(view.group.records)
    places = numbers.spread(count, most_points)
    note = ""
    if len(places) < count:
        note = (
            f"{len(places)} of {grouped(count)} repetitions, evenly spread; `--csv` writes all of "
            "them."
        )
    return repetition_rows(view, places), note


def _commands(full: Json) -> list[Fact]:
    return [
        Fact("To repeat it", repeat_command(full)),
        Fact("Command line of this run", shlex.join(full["context"]["command"])),
    ]


def _context(full: Json) -> list[Fact]:
    """Machine, file system, versions, hints in force: of the repetition that stands for all."""
    context, io, file = full["context"], full["mpi_io"], full["file"]
    load = f"{context['load_1m']:g} over one minute, {mib(context['dirty_bytes'])} dirty pages"
    facts = [
        Fact("Started", full["started"]),
        Fact("Host", context["host"]),
        Fact("System", f"{context['os_kernel']}, {context['cores']} cores"),
        Fact("Ranks", f"{context['ranks']} on {context['nodes']} nodes, at most "
             f"{context['ranks_per_node']} on one"),
        Fact("Memory", f"{mib(context['memory_available_bytes'])} available of "
             f"{mib(context['memory_bytes'])}; page cache {mib(context['page_cache_bytes'])}"),
        Fact("Load at the start", load),
        Fact("File system", f"{context['file_system']} at {context['mount_point']} "
             f"({context['file_system_source']})"),
        Fact("Mount options", context["mount_options"]),
        Fact("Free", f"{mib(context['file_system_free_bytes'])} of "
             f"{mib(context['file_system_total_bytes'])}"),
        Fact("Striping", text_of(context["striping"]) if context["striping"] else "not measured"),
        Fact("File", file["path"]),
        Fact("File settings in force", text_of(file["settings"])),
        Fact("MPI", context["mpi_library"] or "none"),
        Fact("MPI-IO", io["implementation"] or context["mpi_io"] or "none"),
        Fact("Hints in force", text_of(io["hints_in_force"])),
        Fact("HDF5", context["hdf5_version"] or "none"),
        Fact("Memory of a rank", _memory(full["memory"])),
        Fact("Environment", text_of(context["environment"])),
        Fact("Tailrace", f"{context['tailrace_version']}, commit {context['commit']}, "
             f"{context['compiler']}"),
    ]  # fmt: skip
    return facts


def _memory(memory: Json) -> str:
    peak, above = memory["peak_bytes_max"], memory["peak_above_init_bytes_max"]
    if peak is None:
        return "not measured"
    return f"peak {mib(peak)}" + (f", {mib(above)} of it after MPI_Init" if above else "")
