# SPDX-License-Identifier: Apache-2.0
"""`tailrace report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailrace import interrupts
from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError
from tailrace.units import plural

if TYPE_CHECKING:
    from tailrace.results import ResultSet, Selection

Results = Annotated[
    list[str],
    typer.Argument(
        metavar="RESULTS...", show_default=False,
        help="Results files, or parts of them: results.jsonl::format=hdf5.",
    ),
]  # fmt: skip
Target = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FOLDER", show_default=False,
                 help="Also write the numbers of every plot as CSV files, into this folder."),
]  # fmt: skip


def report(
    results: Results = [],  # noqa: B006  (read only)
    target: Target = Path("report.html"),
    csv: Csv = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Make one self-contained HTML page from results.

    You can read it offline, on a phone and in print. A file that is no report is not overwritten.
    """
    output = Output(as_json=as_json, quiet=quiet)
    if not results:
        raise TailraceError(
            "no results file is given", where="report",
            hint="`tailrace run` appends Records to results.jsonl: tailrace report results.jsonl",
        )  # fmt: skip
    from tailrace.report import store
    from tailrace.report.read import read_selected

    store.check_target(target)
    with output.progress("reading") as meter:
        found = read_selected(results, meter)
    for text in found.problems.texts():
        output.note(text)
    facts = _make(output, found, target, csv)
    output.json({"command": "report", **facts})
    return 0


def write_report(output: Output, target: Path | None, selection: Selection) -> None:
    """Of some Records, at the end of a command that has made them; None: none is asked for."""
    if target is not None:
        output.line()
        _make(output, selection.read(), target, None)


def _make(output: Output, found: ResultSet, target: Path, csv: Path | None) -> dict[str, Any]:
    """Writes the page; what there is to be said of it."""
    from tailrace.cli.versions import commit, version
    from tailrace.report import page, store

    views = page.views(found)
    made = page.build(
        found,
        views,
        f"tailrace {version()} (commit {commit()})",
        lambda _done, _of: interrupts.check(),
    )
    html = page.render(made)
    tables = [] if csv is None else store.write_csv(csv, made, views)
    store.write_text(target, html)
    figures = len(made.figures())
    output.line(
        f"{target}: {plural(len(views), 'group')} of equal settings, "
        f"{plural(len(found.records), 'Record')}, {plural(figures, 'plot')}"
    )
    return {
        "report": str(target),
        "records": len(found.records),
        "measured": sum(len(view.timed) for view in views),
        "groups": len(views),
        "sections": len(made.sections),
        "plots": figures,
        "csv": [str(path) for path in tables],
        "left_out": found.problems.as_json(),
    }
