# SPDX-License-Identifier: Apache-2.0
"""`tailrace advise`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from tailrace.cli.options import Allow, Declare, Json, Quiet, allowed
from tailrace.cli.output import Output

Inputs = Annotated[
    list[Path],
    typer.Argument(
        metavar="PROFILE|INTENTS|LOG...", show_default=False,
        help="Profiles, Darshan logs, or the output of `tailrace intents`.",
    ),
]  # fmt: skip
To = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", show_default=False, help="Write the plan into this file."
    ),
]
Kinds = Literal["h5py", "netcdf4", "xarray", "c", "fortran", "hints"]
As = Annotated[
    Kinds | None,
    typer.Option(
        "--as", metavar="KIND", show_default=False,
        help="Print lines for the program instead: h5py, netcdf4, xarray, c, fortran, hints.",
    ),
]  # fmt: skip
Rules = Annotated[
    list[Path],
    typer.Option("--rules", metavar="FILE", show_default=False, help="Rules of your site."),
]


def advise(
    inputs: Inputs,
    output_file: To = None,
    allow: Allow = [],  # noqa: B006  (read only)
    kind: As = None,
    rules: Rules = [],  # noqa: B006  (read only)
    declared: Declare = [],  # noqa: B006  (read only)
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Say which settings would make a program faster, and why.

    It prints the settings, other changes that would help, what the program does with its files,
    and which rules were held back. It changes nothing. -o writes the plan, which `tailrace apply`
    and `tailrace env` read.
    """
    from tailrace.cli import advise_show, overview_show
    from tailrace.intent import advice, snippets
    from tailrace.intent.target import check_target
    from tailrace.intent.verdict import verdict
    from tailrace.whole_files import write_text

    output = Output(as_json=as_json, quiet=quiet)
    if output_file is not None:
        check_target(output_file, [*inputs, *rules, *declared])
    plan, about, notes = advice.advise(inputs, rules, allowed(output, allow), declared)
    for note in notes:
        output.note(note)
    if output_file is not None:
        write_text(output_file, json.dumps(plan, indent=2) + "\n")
    if kind:
        text = snippets.snippet(kind, plan)
        output.file(text)
        output.json({"command": "advise", "as": kind, "text": text})
        return 0
    advise_show.show(output, plan)
    overview_show.show(output, about)
    advise_show.show_held(output, plan)
    if output_file is not None:
        output.line(f"plan: {output_file}")
    output.json({"command": "advise", "verdict": verdict(plan), "plan": plan, **about})
    return 0
