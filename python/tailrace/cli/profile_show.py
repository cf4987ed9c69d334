# SPDX-License-Identifier: Apache-2.0
"""A profile for a person, at the width of the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tailrace.cli.output import Output, printable, shortened
from tailrace.units import mib, plural

_most_rows = 12


def show(output: Output, profile: dict[str, Any]) -> None:
    """The files and the datasets that moved most, then what is missing."""
    run = profile["run"]
    files = profile.get("files", [])
    processes = len(run.get("processes", []))
    if processes:
        output.line(f"{plural(processes, 'process')}, {plural(len(files), 'file')}", "bold")
    if files:
        output.show(_files(files))
    datasets = [(file, dataset) for file in files for dataset in file.get("datasets", [])]
    datasets.sort(key=lambda pair: -_bytes(pair[1], "reads") - _bytes(pair[1], "writes"))
    if datasets:
        output.show(_datasets(datasets[:_most_rows]))
    if len(datasets) > _most_rows:
        output.line(f"and {plural(len(datasets) - _most_rows, 'dataset')} more")
    failed = [(file["path"], _failed_opens(file)) for file in files if _failed_opens(file)]
    failed.sort(key=lambda pair: -pair[1])
    if failed:
        some = ", ".join(f"{path} ({plural(count, 'time')})" for path, count in failed[:3])
        more = f" and {plural(len(failed) - 3, 'other file')}" if len(failed) > 3 else ""
        output.line(printable(f"could not be opened: {some}{more}"))
    for note in profile["origin"].get("notes", []):
        output.line(printable(note))
    dropped = profile["origin"].get("dropped", {})
    if dropped:
        output.line(
            "lost, for want of room: "
            + ", ".join(f"{count} {kind}" for kind, count in dropped.items())
        )


def _table(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _files(files: list[dict[str, Any]]) -> Table:
    table = _table("file", "by", "opened", "datasets", "written", "read")
    for file in files[:_most_rows]:
        table.add_row(
            printable(shortened(file["path"], 40)),
            file.get("processes", ""),
            str(_opens(file)),
            str(len(file.get("datasets", []))),
            mib(_moved(file, "writes")),
            mib(_moved(file, "reads")),
        )
    return table


def _opens(file: dict[str, Any]) -> int:
    """As the uppermost layer that was recorded counts them."""
    for layer in ("hdf5", "mpiio", "posix", "stdio"):
        if found := file.get(layer):
            kinds = ("opens", "collective_opens", "independent_opens")
            return sum(int(found.get(kind) or 0) for kind in kinds)
    return 0


def _failed_opens(file: dict[str, Any]) -> int:
    return sum(
        int((file.get(layer) or {}).get("failed_opens") or 0) for layer in ("posix", "stdio")
    )


def _moved(file: dict[str, Any], direction: str) -> int:
    """Bytes of its datasets; without those what MPI-IO or the system calls moved."""
    if "hdf5" in file:
        return sum(_bytes(dataset, direction) for dataset in file.get("datasets", []))
    if "mpiio" in file:
        return _bytes(file["mpiio"], direction)
    return sum(_bytes(file.get(layer, {}), direction) for layer in ("posix", "stdio"))


def _datasets(datasets: list[tuple[dict[str, Any], dict[str, Any]]]) -> Table:
    table = _table("dataset", "extent", "written", "read", "how")
    for file, dataset in datasets:
        name = f"{file['path'].rsplit('/', 1)[-1]}:{dataset['path']}"
        extent = "x".join(str(extent) for extent in dataset.get("dims", [])) or "one element"
        kind = dataset.get("type", {}).get("name") or dataset.get("type", {}).get("class", "")
        table.add_row(
            printable(shortened(name, 30)),
            f"{extent} {kind}",
            mib(_bytes(dataset, "writes")),
            mib(_bytes(dataset, "reads")),
            _how(dataset),
        )
    return table


def _how(dataset: dict[str, Any]) -> str:
    """One transfer as it mostly is: '10 x 64 KiB, sequential, collective'. Writes go first."""
    both = (dataset.get(direction) or {} for direction in ("writes", "reads"))
    transfers = next((one for one in both if one.get("calls")), None)
    if transfers is None:
        return "nothing moved"
    shapes = transfers.get("shapes")
    if shapes:
        words = [f"{shapes[0]['calls']} x {mib(shapes[0]['call_bytes'])}"]
    else:
        words = [plural(transfers["calls"], "call")]
    order = transfers.get("order", {})
    follow = {key: order.get(key) or 0 for key in ("sequential", "strided", "random", "repeated")}
    if sum(follow.values()):
        words.append(max(follow, key=lambda key: follow[key]))
    if transfers.get("requested_collective"):
        words.append("collective")
    return ", ".join(words)


def _bytes(holder: dict[str, Any], direction: str) -> int:
    return int((holder.get(direction) or {}).get("bytes") or 0)
