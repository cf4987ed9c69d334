# SPDX-License-Identifier: Apache-2.0
"""What the machine can do, where a run has measured it: the same bytes by plain means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from tailrace.report import numbers, swatches
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import bars
from tailrace.report.view import Json, View
from tailrace.statistics import median_interval

_words = {
    "file_per_rank": "a file per rank",
    "shared_file": "one shared file",
    "mpi_io": "MPI-IO",
    "memory_copy": "memory copy",
}
_fsync = "_fsync"


@dataclass(frozen=True)
class Limit:
    """The line in the plots: the fastest plain way that ends on the device."""

    bytes_per_s: float
    words: str


_own_rate = {
    "durable": "durable_bytes_per_s",
    "aggregate": "aggregate_bytes_per_s",
    "write": "write_bytes_per_s",
}


@dataclass(frozen=True)
class Arm:
    """Over the measured repetitions."""

    name: str
    against: str  # durable, aggregate or write: what of the kernel is like it
    rates: list[float]  # bytes per second
    ratios: list[float]  # of the kernel by this arm, pair by pair
    errors: list[str]  # of the repetitions that were read in full


def arms(view: View) -> list[Arm]:
    """Sorted by name; nothing where no run asked for them."""
    said = _in_full(view)
    rates: dict[str, list[float]] = {name: [] for name in sorted(said)}
    ratios: dict[str, list[float]] = {name: [] for name in sorted(said)}
    for record in view.timed:
        for name, rate in record.limits().items() if record.limit_names else ():
            rates[name].append(rate)
            own = getattr(record, _own_rate[said[name][0]["against"]])
            if own is not None and rate > 0:
                ratios[name].append(own / rate)
    return [
        Arm(
            name,
            one[0]["against"],
            rates[name],
            ratios[name],
            [arm["error"]["message"] for arm in one if arm["error"]],
        )
        for name, one in sorted(said.items())
    ]


def _in_full(view: View) -> dict[str, list[Json]]:
    """Everything about each arm, of one Record with each set of arms and of those read anyway."""
    records = list(view.some_in_full)
    known = {names for record in view.timed if (names := record.limit_names)}
    seen = {tuple(sorted((one.get("limit") or {}).get("arms") or {})) for one in records}
    for names in sorted(known - seen):
        records.append(next(one for one in view.timed if one.limit_names == names).full())
    found: dict[str, list[Json]] = {}
    for record_json in records:
        for name, arm in ((record_json.get("limit") or {}).get("arms") or {}).items():
            found.setdefault(name, []).append(arm)
    return found


def limit_of(view: View) -> Limit | None:
    """The greatest median of the arms that end with fsync."""
    durable = [arm for arm in arms(view) if arm.against == "durable" and arm.rates]
    if not durable:
        return None
    best = max(durable, key=lambda arm: median(arm.rates))
    return Limit(median(best.rates), f"limit: {arm_words(best.name)}")


def arm_words(name: str) -> str:
    """`file_per_rank_fsync` as `a file per rank, fsync`."""
    plain = name.removesuffix(_fsync)
    return _words.get(plain, plain) + (", fsync" if name.endswith(_fsync) else "")


def beside_the_limit(view: View) -> Figure | None:
    """The kernel and the plain ways, the fastest on top; None where none was measured."""
    every = arms(view)
    found = [arm for arm in every if arm.rates]
    if not found:
        return None
    shown = [arm for arm in found if arm.against != "write"]
    rows = [_arm_row(arm) for arm in shown]
    for against, attribute in (("durable", "durable_bytes_per_s"),
                               ("aggregate", "aggregate_bytes_per_s")):  # fmt: skip
        values = view.values(attribute)
        if values:
            row = _row(f"this kernel, {against}", values, "", _style(against))
            rows.append(replace(row, emphasis="own"))
    rows.sort(key=lambda row: -(row.value or 0.0))
    name, title = f"{view.name}-limit", "Beside the limit of the machine"
    caption = (
        "The same bytes from the same ranks by plain means, in turns with the kernel. Medians; "
        "k/it: the kernel's rate by that of the plain way."
    )
    legend = [
        Key(swatches.bar("s-durable"), "ends on the device: durable, and plain writes with fsync"),
        Key(swatches.bar("s-raw"), "without fsync: aggregate (open, write, close), plain writes"),
        Key(swatches.whisker(), "95 % interval of the median (from six repetitions on)"),
        Key(swatches.point("circle", "single"), "single repetitions"),
    ]
    said = "; ".join(f"{row.name}: {row.words}" for row in rows)
    plot = bars.lying(name, title, f"{caption} {said}.", rows, "MiB/s")
    return Figure(name, title, caption, plot, legend, _table(found), _note(every))


def _style(against: str) -> str:
    return "s-durable" if against == "durable" else "s-raw"


def _arm_row(arm: Arm) -> bars.Row:
    more = f", k/it {median(arm.ratios):.2f}" if arm.ratios else ""
    return _row(arm_words(arm.name), arm.rates, more, _style(arm.against))


def _row(name: str, values: list[float], more: str, style: str) -> bars.Row:
    middle, interval = median(values), median_interval(values)
    low, high = interval if interval else (None, None)
    places = numbers.spread(len(values), 24)
    return bars.Row(
        name, numbers.rate(middle) + more, middle / numbers.mebi, numbers.mib_per_s(low),
        numbers.mib_per_s(high), [values[place] / numbers.mebi for place in places], None,
        f"{name}: median {numbers.rate(middle)}{more}", style,
    )  # fmt: skip


def _table(found: list[Arm]) -> Table:
    rows: list[list[Cell]] = []
    for arm in found:
        interval = median_interval(arm.rates) or (None, None)
        rows.append(
            [
                arm.name, len(arm.rates), median(arm.rates) / numbers.mebi,
                *(numbers.mib_per_s(end) for end in interval),
                arm.against, median(arm.ratios) if arm.ratios else None,
            ]
        )  # fmt: skip
    columns = (
        "plain way", "measured", "median (MiB/s)", "from", "to", "compares with",
        "kernel / it, median",
    )  # fmt: skip
    return Table(columns, rows)


def _note(every: list[Arm]) -> str:
    said = []
    for arm in every:
        if arm.against == "write" and arm.rates:
            rate = numbers.rate(median(arm.rates))
            said.append(f"Not drawn: {arm_words(arm.name)}, {rate}.")
    said += [f"{arm_words(arm.name)} failed: {arm.errors[0]}." for arm in every if arm.errors]
    return " ".join(said)
