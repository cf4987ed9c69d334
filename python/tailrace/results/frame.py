# SPDX-License-Identifier: Apache-2.0
"""Records as a pandas table: one row each, flat columns with the units in their names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailrace.results.model import Record, Settings
from tailrace.results.read import read_results
from tailrace.results.texts import text_of

if TYPE_CHECKING:
    import pandas as pd

_leading = ("run_id", "repetition", "warm_up", "status", "error", "started")
_figures = (
    "logical_bytes", "stored_bytes", "allocated_bytes", "durable_s", "write_s", "aggregate_s",
    "durable_bytes_per_s", "write_bytes_per_s", "aggregate_bytes_per_s", "ranks_that_wrote",
    "calls", "bytes_done", "smallest_bytes", "largest_bytes", "steps", "collective_actual",
    "verification", "peak_above_init_bytes", "read_bytes_per_s", "stall_s", "load_1m",
    "dirty_bytes", "page_cache_bytes", "memory_available_bytes", "file_system_free_bytes",
)  # fmt: skip
_writer_figures = ("calls", "bytes_done", "smallest_bytes", "largest_bytes")


def load(paths: Iterable[Path | str] | Path | str) -> pd.DataFrame:
    """The Records of one or several results files as a table. Columns: docs/user/results.md.

    Raises TailraceError as read_results does; lines that are no Record are left out, and counted
    in `.attrs["problems"]`.
    """
    files = [paths] if isinstance(paths, Path | str) else list(paths)
    found = read_results(files)
    table = frame(found.records)
    table.attrs["problems"] = found.problems.as_json()
    return table


def frame(records: list[Record]) -> pd.DataFrame:
    """The same of Records at hand."""
    import pandas as pd

    columns: dict[str, Any] = {name: [getattr(r, name) for r in records] for name in _leading}
    columns |= _by_settings(records)
    for name in ("comparison", "name", "round"):
        arm = "arm" if name == "name" else f"arm_{name}"
        columns[arm] = [getattr(r.arm, name) if r.arm else None for r in records]
    columns["filename"] = [record.filename for record in records]
    for name in _figures:
        columns[name] = [getattr(record, name) for record in records]
    for name in _writer_figures:  # 0 stands for "not counted" there
        counted = zip(columns[name], columns["ranks_that_wrote"], strict=True)
        columns[name] = [value if ranks is not None else None for value, ranks in counted]
    columns |= _phases(records) | _limits(records)
    columns["source"] = [str(record.source) for record in records]
    columns["line"] = [record.line for record in records]
    return pd.DataFrame(columns)


def _by_settings(records: list[Record]) -> dict[str, list[Any]]:
    """Columns of what was run where: each value is made once per settings, not once per Record."""
    settings = list(dict.fromkeys(record.settings for record in records))
    number = {one: at for at, one in enumerate(settings)}
    which = [number[record.settings] for record in records]

    def column(values: list[Any]) -> list[Any]:
        return [values[at] for at in which]

    found = {"kernel": column([one.kernel for one in settings])}
    found["format"] = column([one.configuration.get("format") for one in settings])
    for key in dict.fromkeys(key for one in settings for key in one.context):
        found[key] = column([_cell(one.context.get(key)) for one in settings])
    for key in _keys(settings):
        found[f"config.{key}"] = column([_cell(one.configuration.get(key)) for one in settings])
    return found


def _keys(settings: list[Settings]) -> list[str]:
    return sorted({key for one in settings for key in one.configuration})


def _cell(value: Any) -> Any:
    """Lists and maps as text, so that rows can be grouped by them."""
    return text_of(value) if isinstance(value, list | dict) else value


def _phases(records: list[Record]) -> dict[str, list[float]]:
    names = sorted({name for record in records for name in record.phase_names})
    nothing = float("nan")
    found = {
        f"phase_{name}_{part}_s": [nothing] * len(records)
        for name in names
        for part in ("min", "mean", "max")
    }
    for row, record in enumerate(records):
        for name, low, mean, high in record.phases():
            found[f"phase_{name}_min_s"][row] = low
            found[f"phase_{name}_mean_s"][row] = mean
            found[f"phase_{name}_max_s"][row] = high
    return found


def _limits(records: list[Record]) -> dict[str, list[float | None]]:
    names = sorted({name for record in records for name in record.limit_names})
    rates = [record.limits() for record in records]
    return {f"limit_{name}_bytes_per_s": [one.get(name) for one in rates] for name in names}
