# SPDX-License-Identifier: Apache-2.0
"""`tailrace run slab --matrix`: the seed's table, run in turns and explained."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.table import Table

from tailrace.cli import many_runs
from tailrace.cli.output import Output
from tailrace.cli.sweep_show import wrapped
from tailrace.errors import TailraceError
from tailrace.run import programs
from tailrace.sweep import matrix
from tailrace.sweep.plan import make_plan
from tailrace.units import plural

_repetitions = 3
_giga = 1e9


def matrix_runs(
    output: Output, words: Sequence[str], *, ranks: int | None, launcher: str, resume: bool,
    dry_run: bool,
) -> int:  # fmt: skip
    """Exit code: 130 after an interrupt, 1 where it ended early, else 0."""
    program = programs.program(programs.slab)
    common, repeat = _without_repeat(words)
    asked = many_runs.Asked(
        "slab", program, common, repeat, None, resume, "durable", launcher, dry_run, None
    )
    mpi = programs.mpi_library(program)
    several = ("ompio", "romio") if mpi is not None and mpi.flavour == "openmpi" else ()
    vary = matrix.factors(several)
    check_words(common, vary)
    plan = make_plan(
        "slab", program, many_runs.with_geometry(output, asked, vary), vary,
        ranks=ranks or 4, launcher=launcher, seed=None,
    )  # fmt: skip
    plan = many_runs.begun(output, asked, plan)
    checked = many_runs.looked_at(output, plan)
    if dry_run:
        return many_runs.show_plan(output, "run", asked, plan, checked)
    made = many_runs.make_runs(output, asked, plan, checked)
    cells = matrix.cells_of(made.runs)
    pairs = matrix.pairs_of(cells)
    _show(output, cells, pairs)
    for line in many_runs.left_out_lines(checked.left_out):
        wrapped(output, f"not measured: {line}")
    output.json({
        "command": "run", "kernel": "slab", "matrix": [one.as_json() for one in cells],
        "pairs": [one.as_json() for one in pairs], "results": str(plan.results),
        "sweep": plan.sweep, "left_out": many_runs.left_out_json(checked.left_out),
    })  # fmt: skip
    if made.error is not None:
        output.error(made.error)
    return int(made.code)


def check_words(words: Sequence[str], vary: Sequence[str] | None = None) -> None:
    """Raises TailraceError for inputs that a matrix does not take. vary: its factors, where the
    MPI-IO implementations are known."""
    varied = [one.partition("=")[0] for one in (vary or matrix.factors(("ompio", "romio")))]
    for word in words:
        if word in {"T", "F"} or word.isdigit():
            raise TailraceError(
                f'"{word}": inputs of a matrix are KEY=VALUE', where="--matrix",
                hint="for example n1=400000 n2=50",
            )  # fmt: skip
        if word.partition("=")[0] in varied:
            raise TailraceError(
                f'"{word}": the matrix varies it', where="--matrix", hint="take it away"
            )


def _without_repeat(words: Sequence[str]) -> tuple[list[str], int]:
    """`repeat=N` says how often each cell is measured."""
    kept = [word for word in words if not word.startswith("repeat=")]
    given = [word.partition("=")[2] for word in words if word.startswith("repeat=")]
    if given and not (given[-1].isdigit() and int(given[-1]) > 0):
        raise TailraceError(f'"repeat={given[-1]}" is no number above zero', where="--matrix")
    return kept, int(given[-1]) if given else _repetitions


def _show(output: Output, cells: Sequence[matrix.Cell], pairs: Sequence[matrix.Pair]) -> None:
    output.line("slab: GB/s, create to synced close (median, 95 %)", "bold")
    for mpi_io, group in groupby(cells, key=lambda one: one.mpi_io):
        output.line()
        output.line(mpi_io, "bold")
        output.show(_table(list(group)))
    output.line()
    output.line("What was counted in each cell", "bold")
    for mpi_io, group in groupby(cells, key=lambda one: one.mpi_io):
        for one in group:
            wrapped(output, f"{mpi_io}, {one.name}: {matrix.facts(one.counts())}", "  ")
    output.line()
    output.line("What changes, and why", "bold")
    for pair in pairs:
        wrapped(output, f"{pair.first.mpi_io}: {pair.text}", "  ")
    fewest = min((len(one.case.values) for one in cells), default=0)
    if fewest < 6:
        output.line(
            f"note: some cells have {plural(fewest, 'repetition')} only; repeat=6 gives intervals "
            "that hold"
        )


def _table(cells: Sequence[matrix.Cell]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for title in matrix.hints.values():
        table.add_column(title, no_wrap=True)
    at = {(one.mode, one.axis, one.hints): one for one in cells}
    for mode in matrix.modes.values():
        for axis in matrix.axes:
            found = [at.get((mode, axis, title)) for title in matrix.hints.values()]
            if any(found):
                table.add_row(f"{mode} {axis}", *(_figure(one) if one else "-" for one in found))
    return table


def _figure(cell: matrix.Cell) -> str:
    interval = cell.interval()
    words = f"{cell.rate_bytes_per_s / _giga:.3g}"
    if interval:
        words += f"  ({interval[0] / _giga:.3g} to {interval[1] / _giga:.3g})"
    return words
