# SPDX-License-Identifier: Apache-2.0
"""`tailrace apply`."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.cli.options import Allow, Command, Json, Quiet, allowed
from tailrace.cli.output import Output

PlanFile = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN",
        show_default=False,
        help="A plan of `tailrace advise -o` or `tailrace tune`.",
    ),
]


def apply(
    plan_file: PlanFile,
    command: Command,
    allow: Allow = [],  # noqa: B006  (read only)
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a program with the settings of a plan, and say for each whether it was in force.

    The program is not changed, and you need not build it again. Its own settings stay. If the
    library refuses a setting, the program's own is used. Collective settings need --allow and, in
    the plan, a proof of this very run: the same program, arguments, inputs and ranks. The exit code
    and standard output are the program's.
    """
    from tailrace.cli import program_code
    from tailrace.cli.apply_show import show
    from tailrace.intent import advice, layers, plugin, proof, record
    from tailrace.intent import apply as applying

    output = Output(as_json=as_json, quiet=quiet, runs_program=True)
    classes = allowed(output, allow)
    whole = advice.load(plan_file)
    reason = applying.why_not_collective(whole, classes, command)
    of_variables = "" if reason else applying.why_no_variables(whole, command)
    plan, held = applying.without_collective(whole, reason, of_variables)
    flat = applying.compiled(plan, str(plan_file))
    added, lines = applying.variables(plan)
    found: dict[str, Any] = {"processes": [], "outcomes": [], "dropped": 0, "notes": []}
    hashes = os.environ.get(applying.hash_reads) == "1"
    loads = bool(plan["entries"]) or hashes
    if loads:
        folder = plugin.find(command="apply")
        plugin.check(folder)
    preloads, why_not = layers.to_set_hints(plan, command)
    if why_not:
        output.note(f"{applying.only_by_hdf5}: {why_not}")
    with record.spool_folder(_beside(), keep=False, tell=output.note) as spools:
        file = spools / "plan.compiled"
        if loads:
            # What refuses comes first: nothing lies in the folder then, and it goes.
            added |= plugin.environment_to_apply(folder, file)
            file.write_bytes(flat)
            added["TAILRACE_PROFILE_DIR"] = str(spools)
            if "proof" in plan:
                added |= proof.environment(plan)
            if hashes:  # also for ranks on other nodes
                added[applying.hash_reads] = "1"
        try:
            words = command
            if preloads:
                words, more = layers.with_preload(words, layers.joined(preloads))
                added |= more
            words = record.with_environment(words, list(added))
            ended = record.run(words, added, quiet_stdout=as_json)
        finally:
            file.unlink(missing_ok=True)
        if loads:
            with program_code.stays(output, ended):
                found = applying.outcomes(spools)
        if ended.code and not found["processes"]:
            found["ended"] = ended.how
    lines += held + applying.lines_of(plan, found)
    program_code.tell(output, ended)
    if loads and not ended.code:
        note = applying.note_on_short_run(plan, ended.elapsed_s, command)
        found["notes"] += [note] if note else []
    show(output, lines, found)
    output.json(
        {
            "command": "apply",
            "argv": command,
            "program_exit_code": ended.code,
            "elapsed_s": ended.elapsed_s,
            "lines": [asdict(line) for line in lines],
            "outcomes": found["outcomes"],
            "delivered": found.get("delivered", []),
            "processes": found["processes"],
            "dropped": found["dropped"],
            "notes": found["notes"],
        }
    )
    return ended.code


def _beside() -> Path:
    """What the processes note down lies in the folder of the run, which all nodes see; where
    nothing can be made there, in that of temporary files."""
    folder = "" if os.access(".", os.W_OK) else tempfile.gettempdir()
    return Path(folder, "tailrace-apply")
