# SPDX-License-Identifier: Apache-2.0
"""`tailrace env`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output

PlanFile = Annotated[
    Path,
    typer.Argument(metavar="PLAN", show_default=False, help="What `tailrace advise -o` wrote."),
]


def env(plan_file: PlanFile, as_json: Json = False, quiet: Quiet = False) -> int:
    """The part of a plan that the environment alone can set, for `eval` in a shell or a job script.

    MPI-IO hints of single files are no part of it: `tailrace advise --as hints` prints those.
    """
    from tailrace.intent import advice

    output = Output(as_json=as_json, quiet=quiet)
    plan = advice.load(plan_file)
    variables = plan.get("environment", [])
    for one in variables:
        output.line(f"export {one['name']}={shlex.quote(one['value'])}")
    rest = _others(plan)
    if rest:
        output.note(
            f"{plan_file}: {rest} settings are not for the environment; the program makes them "
            "(`tailrace advise --as h5py|c|fortran|hints`)"
        )
    output.json(
        {
            "command": "env",
            "environment": {one["name"]: one["value"] for one in variables},
            "other_settings": rest,
        }
    )
    return 0


def _others(plan: dict[str, Any]) -> int:
    return sum(len(entry.get("settings", [])) for entry in plan.get("entries", []))
