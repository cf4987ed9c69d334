# SPDX-License-Identifier: Apache-2.0
"""What was run and where, in two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tailrace.report import numbers
from tailrace.report.view import Json, View
from tailrace.results import Record
from tailrace.units import mib, plural

_formats = {
    "hdf5": "HDF5",
    "netcdf4": "netCDF-4",
    "mpiio": "MPI-IO",
    "pnetcdf": "PnetCDF",
    "posix": "POSIX",
    "posix-per-rank": "one POSIX file per rank",
}


def what(view: View) -> str:
    """The first sentence."""
    record, full = view.typical, view.full
    configuration = full["configuration"]
    if record.logical_bytes is None and full.get("limit"):
        return _only_the_limit(view)
    ranks = full["context"]["ranks"]
    size = f"{mib(record.logical_bytes)} of data" if record.logical_bytes else "its data"
    if record.steps > 1:
        size += f" in {plural(record.steps, 'time step')}"
    form = str(configuration.get("format") or "")
    through = f" through {_formats.get(form, form)}" if form else ""
    return (
        f"The kernel {record.kernel} wrote {size}{through} from {plural(ranks, 'rank')} "
        f"with {_manner(configuration, full)}: {counts(view)}."
    )


def _only_the_limit(view: View) -> str:
    """Of runs that have no kernel."""
    sizes = [arm["bytes"] for arm in view.full["limit"]["arms"].values()]
    ranks = plural(view.full["context"]["ranks"], "rank")
    return f"Plain means wrote {mib(max(sizes, default=0))} from {ranks}: {counts(view)}."


def _manner(configuration: Json, full: Json) -> str:
    asked = "collective" if full["transfers"]["collective_requested"] else "independent"
    layout = ""
    if "chunk" in configuration and configuration.get("format") == "hdf5":
        form = "chunks" if configuration["chunk"] else "a contiguous layout"
        layout = f" into {form}"
    return f"{asked} calls{layout}"


def counts(view: View) -> str:
    """How many repetitions count, and how many do not."""
    group = view.group
    words = plural(len(group.timed), "measured repetition")
    if len(group.runs) > 1:
        words += f" of {plural(len(group.runs), 'run')}"
    warm = sum(record.ok for record in group.warm_ups)
    if warm:
        words += f", {plural(warm, 'warm-up')} apart"
    if group.failed:
        words += f", {len(group.failed)} failed"
    return words


def where(view: View) -> str:
    """The second sentence."""
    return f"It ran {_place(view.group.settings.context)}, {_when(view.group.records)}."


def where_all(views: Sequence[View]) -> str:
    """Of all sections together, where they have it in common; else nothing."""
    places = {_place(view.group.settings.context) for view in views}
    records = [record for view in views for record in view.group.records]
    return f"All ran {places.pop()}, {_when(records)}." if len(places) == 1 else ""


def _place(context: Json) -> str:
    on = context["host"]
    if context["nodes"] > 1:
        on = f"{plural(context['nodes'], 'node')} ({context['host']} and others)"
    below = ", ".join(
        words
        for words in (
            context["mpi_library"],
            context["mpi_io"],
            f"HDF5 {context['hdf5_version']}" if context["hdf5_version"] else "",
        )
        if words
    )
    return (
        f"on {on} ({plural(context['cores'], 'core')}, {context['os_kernel']}), into "
        f"{context['file_system']} at {context['mount_point']}{f', with {below}' if below else ''}"
    )


def _when(records: list[Record]) -> str:
    days = {record.started[:10] for record in records}
    return f"on {min(days)}" if len(days) == 1 else f"from {min(days)} to {max(days)}"


def summary(view: View) -> str:
    """The headline in words, for the page's top."""
    values = view.values("durable_bytes_per_s")
    if not values:
        return "No measured repetition is left."
    return f"Durable median {numbers.rate(median(values))}."
