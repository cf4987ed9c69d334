# SPDX-License-Identifier: Apache-2.0
"""`tailrace env`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError
from tailrace.units import plural

PlanFile = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN",
        show_default=False,
        help="A plan of `tailrace advise -o` or `tailrace tune`.",
    ),
]


def env(plan_file: PlanFile, as_json: Json = False, quiet: Quiet = False) -> int:
    """Print the variables for a plan: `eval "$(tailrace env plan.json)"`.

    If the plan has settings for the HDF5 connector or the MPI-IO hook, the command writes their
    compiled form beside the plan, as PLAN.compiled. If the plan has MPI-IO hints, the variables
    preload the hook (LD_PRELOAD).
    """
    from tailrace.intent import advice, layers
    from tailrace.intent import apply as applying

    output = Output(as_json=as_json, quiet=quiet)
    plan = advice.load(plan_file)
    kept, held = applying.without_collective(plan, "not for the environment")
    added, lines = applying.variables(kept)
    rest, left = len(held), 0
    if kept["entries"]:
        try:
            added |= _of_connector(plan_file, kept)
            preloads, why_not = layers.to_set_hints(kept, [])
            if preloads:
                added["LD_PRELOAD"] = layers.joined(preloads)
            if why_not:
                output.note(f"{applying.only_by_hdf5}: {why_not}")
        except TailraceError as error:
            left = sum(len(entry["settings"]) for entry in kept["entries"])
            output.note(f"{plan_file}: {plural(left, 'setting')} left out: {error.what}")
            if error.hint:
                output.note(f"hint: {error.hint}")
    for line in lines:
        if line.became == "kept":
            output.note(f"{line.setting} stays: {line.reason}")
    for name, value in added.items():
        output.line(f"export {name}={shlex.quote(value)}")
    if rest:
        output.note(
            f"{plan_file}: {rest} settings are not for the environment (collective ones: `tailrace "
            "apply --allow collective`; in the program: `tailrace advise --as h5py|c|fortran`)"
        )
    output.json({"command": "env", "environment": added, "other_settings": rest + left})
    return 0


def _of_connector(plan_file: Path, plan: dict[str, Any]) -> dict[str, str]:
    """Writes the compiled form, and gives what makes the connector read it."""
    from tailrace.intent import apply as applying
    from tailrace.intent import plugin
    from tailrace.whole_files import write_bytes

    folder = plugin.find(command="env")
    plugin.check(folder)
    file = plan_file.with_name(plan_file.name + ".compiled")
    write_bytes(file, applying.compiled(plan, str(plan_file)))
    return plugin.environment_to_apply(folder, file)
