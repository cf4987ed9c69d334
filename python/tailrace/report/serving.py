# SPDX-License-Identifier: Apache-2.0
"""A model and who writes for it: how long it waits, what waits at the server, how fast each file
is there."""

from __future__ import annotations

from statistics import median

from tailrace.report import numbers, swatches
from tailrace.report.model import Cell, Fact, Figure, Key, Table
from tailrace.report.plots import bars
from tailrace.report.view import Json, View
from tailrace.units import grouped, mib, plural

_most_files = 24
_kinds = {
    "plain": "none: the model writes by calls of the format",
    "embedded": "embedded: the ranks of the model write, and wait for it",
    "simple": "simple: ranks that do nothing else write",
}


def served(view: View) -> list[Json]:
    """The repetitions of a model; empty for other kernels."""
    return [one for one in view.some_in_full if one.get("serving")]


def computation_s(record: Json) -> float:
    """Of the slowest rank, all steps together."""
    return sum(
        (step["compute_s"]["max"] if step.get("steps", 1) == 1 else
         step["compute_s"]["mean"] * step["steps"])
        for step in record["steps"] if "compute_s" in step
    )  # fmt: skip


def headline(view: View) -> list[Fact]:
    """What a model's author looks at first."""
    runs = served(view)
    if not runs:
        return []
    stalls = [one["serving"]["stall_s"]["max"] for one in runs]
    copies = [_in_copies(one) for one in runs]
    said = f"{numbers.digits(median(copies), 3)} copies in memory" if min(copies) > 0 else ""
    facts = [Fact("Stall of the model, median", numbers.seconds(median(stalls)), said)]
    shares = [_of_computation(one) for one in runs]
    if min(shares) > 0:
        words = f"{median(shares):.3f} of the computation"
        facts.append(
            Fact("Computation and output, median", words, "1 is output that costs nothing")
        )
    return facts


def facts(view: View) -> list[Fact]:
    """Of the repetition that stands for all."""
    full = view.full
    about = full.get("serving")
    if not about:
        return []
    model, servers = about["model"], about["servers"]
    ranks = f"{plural(model['ranks'], 'rank')} of the model, {plural(servers['ranks'], 'server')}"
    computed = computation_s(full)
    stall = about["stall_s"]["max"]
    facts = [
        Fact("Server", _kinds.get(about["kind"], about["kind"])),
        Fact("Ranks", ranks),
        Fact("Stall of the model", f"{numbers.seconds(stall)}, the longest of a step "
             f"{numbers.seconds(_longest(full))}"),
        Fact("One copy in memory", numbers.seconds(about["memory_copy_s"])),
        Fact("Overlap", _overlap(full, stall, computed)),
        Fact("Queue of a server", _queue(about.get("queue"))),
        Fact("Messages of a model's rank", _messages(model)),
        Fact("Messages of a server", _messages(servers)),
        Fact("Processor time in the model's calls", _cpu(model)),
        Fact("Processor time of a server", _cpu(servers)),
        Fact("Memory of all processes", _memory(about.get("memory"), full)),
    ]  # fmt: skip
    return facts


def files(view: View) -> Figure | None:
    """Rate of each file from its first data to its name."""
    runs = served(view)
    if not runs or not runs[0]["serving"]["files"]:
        return None
    rates: dict[str, list[float]] = {}
    for one in runs:
        for file in one["serving"]["files"]:
            if file["rate_bytes_per_s"]:
                rates.setdefault(file["path"].rpartition("/")[2], []).append(
                    file["rate_bytes_per_s"]
                )
    names = list(rates)
    shown = [names[place] for place in numbers.spread(len(names), _most_files)]
    rows = [_row(name, rates[name]) for name in shown]
    name, title = f"{view.name}-files", "Rate of each file"
    caption = "Bytes of a file by the time from its first data until it has its name. Medians."
    legend = [
        Key(swatches.bar("s-durable"), "median of the repetitions"),
        Key(swatches.point("circle", "single"), "single repetitions"),
    ]
    plot = bars.lying(name, title, f"{caption} {plural(len(names), 'file')}.", rows, "MiB/s")
    table: list[list[Cell]] = [
        [
            file["path"], file["bytes"], file["elapsed_s"],
            numbers.mib_per_s(file["rate_bytes_per_s"]),
        ]
        for file in (view.full.get("serving") or runs[0]["serving"])["files"]
    ]  # fmt: skip
    columns = ("file", "bytes", "first data to name (s)", "MiB/s")
    note = "" if len(shown) == len(names) else f"{len(shown)} of {grouped(len(names))} files."
    return Figure(name, title, caption, plot, legend, Table(columns, table), note)


def waiting(view: View) -> Figure | None:
    """Computation, stall, the last wait and a copy in memory, beside each other."""
    runs = served(view)
    if not runs:
        return None
    parts = {
        "computation": [computation_s(one) for one in runs],
        "stall of the model": [one["serving"]["stall_s"]["max"] for one in runs],
        "all output, without computation": [one["elapsed"]["durable_s"] or 0.0 for one in runs],
        "one copy in memory": [one["serving"]["memory_copy_s"] for one in runs],
    }
    found = {words: values for words, values in parts.items() if median(values) > 0}
    rows = [
        bars.Row(
            words, numbers.seconds(median(values)), median(values), None, None, values, None,
            f"{words}: median {numbers.seconds(median(values))}",
            "s-rest" if words in {"computation", "one copy in memory"} else "s-durable",
        )
        for words, values in found.items()
    ]  # fmt: skip
    name, title = f"{view.name}-waiting", "What the model waits for"
    caption = (
        "The stall is all time in calls that create files, hand over records and end files; all "
        "output has the last wait for files that servers still write, too."
    )
    legend = [
        Key(swatches.bar("s-durable"), "output"),
        Key(swatches.bar("s-rest"), "to compare with"),
        Key(swatches.point("circle", "single"), "single repetitions"),
    ]
    said = "; ".join(f"{row.name}: {row.words}" for row in rows)
    plot = bars.lying(name, title, f"{caption} {said}.", rows, "s")
    table: list[list[Cell]] = [
        [words, min(values), median(values), max(values)] for words, values in found.items()
    ]
    columns = ("what", "min (s)", "median (s)", "max (s)")
    return Figure(name, title, caption, plot, legend, Table(columns, table))


def _row(name: str, values: list[float]) -> bars.Row:
    middle = median(values)
    places = numbers.spread(len(values), 24)
    return bars.Row(
        name, numbers.rate(middle), middle / numbers.mebi, None, None,
        [values[place] / numbers.mebi for place in places], None,
        f"{name}: median {numbers.rate(middle)}", "s-durable",
    )  # fmt: skip


def _in_copies(record: Json) -> float:
    copy = record["serving"]["memory_copy_s"]
    return float(record["serving"]["stall_s"]["max"] / copy) if copy > 0 else 0.0


def _of_computation(record: Json) -> float:
    computed = computation_s(record)
    return (computed + (record["elapsed"]["durable_s"] or 0.0)) / computed if computed > 0 else 0.0


def _longest(record: Json) -> float:
    return max((step["stall_s"]["max"] for step in record["steps"] if "stall_s" in step), default=0)


def _overlap(record: Json, stall: float, computed: float) -> str:
    """What of the time in which files were made the model did not wait."""
    making = sum(file["elapsed_s"] for file in record["serving"]["files"])
    if computed <= 0 or making <= 0:
        return "none: without computation there is nothing to overlap with"
    hidden = max(0.0, 1 - stall / making)
    return (
        f"files were in the making for {numbers.seconds(making)} in all; the model waited "
        f"{numbers.seconds(stall)} of it and went on for {hidden:.0%}"
    )


def _queue(queue: Json | None) -> str:
    if queue is None:
        return "none"
    return f"at most {mib(queue['bytes_max'])} and {plural(queue['items_max'], 'item')} waited"


def _messages(part: Json) -> str:
    if "messages_sent" not in part:
        return "none"
    sent, received = part["messages_sent"], part["messages_received"]
    return f"{sent['max']:,.0f} sent, {received['max']:,.0f} received (the most)"


def _cpu(part: Json) -> str:
    return numbers.seconds(part["cpu_s"]["max"]) if "cpu_s" in part else "not measured"


def _memory(memory: Json | None, record: Json) -> str:
    if memory is None:
        return "not measured: memory_every says how often to look"
    above = memory["peak_bytes"] - memory["idle_bytes"]
    steps = sum(step.get("steps", 1) for step in record["steps"])
    step = record["bytes"]["logical"] / steps if record["bytes"]["logical"] else 0
    said = f" = {above / step:.1f} steps" if step else ""
    return f"{mib(above)} above idle ({mib(memory['idle_bytes'])}) at its peak{said}"
