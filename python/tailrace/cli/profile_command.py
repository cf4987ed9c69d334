# SPDX-License-Identifier: Apache-2.0
"""`tailrace profile`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailrace.cli.options import Json, MaybeCommand, Quiet, several
from tailrace.cli.output import Output
from tailrace.errors import ExitCode, TailraceError
from tailrace.readable import readable
from tailrace.whole_files import write_text

if TYPE_CHECKING:
    from tailrace.intent.layers import Layers

To = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the profile.")]
Most = Annotated[
    int | None,
    typer.Option(
        "--spool-mib", min=1, max=4096, show_default=False,
        help="Limit for the records of one process, in MiB. [default: 64]",
    ),
]  # fmt: skip
Keep = Annotated[
    bool, typer.Option("--keep-spools", help="Keep the records of the processes, beside FILE.")
]

FromSpools = Annotated[
    Path | None,
    typer.Option(
        "--from-spools", metavar="FOLDER", show_default=False,
        help="Run nothing; make the profile from the records in this folder.",
    ),
]  # fmt: skip
Of = Annotated[
    str,
    typer.Option(
        "--layers", metavar="LAYERS",
        autocompletion=lambda incomplete: several(("auto", "hdf5", "mpiio", "posix"), incomplete),
        help="Layers to record: hdf5, mpiio, posix, with commas between them; or auto.",
    ),
]  # fmt: skip
_uses = {
    "hdf5": "files of HDF5 (1.14 or newer, as a shared library)",
    "mpiio": "files of MPI-IO",
    "posix": "files of data by system calls",
}


Declared = Annotated[
    Path | None,
    typer.Option(
        "--declare", metavar="FILE", show_default=False,
        help="Declarations: what the files are for, by pattern. Also TAILRACE_INTENTS.",
    ),
]  # fmt: skip


def profile(
    command: MaybeCommand = None,
    output_file: To = Path("profile.json"),
    layers_asked: Of = "auto",
    spool_mib: Most = None,
    keep_spools: Keep = False,
    from_spools: FromSpools = None,
    declared: Declared = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a program and record what it does with its files.

    The program is not changed, and you need not build it again; it may be a script. The exit code
    and standard output are the program's. The profile is also written if the program fails.
    """
    from tailrace.cli import program_code
    from tailrace.intent import declarations, layers, record
    from tailrace.intent.sources import profile_text
    from tailrace.intent.target import check_target

    output = Output(as_json=as_json, quiet=quiet, runs_program=from_spools is None)
    core = _core()
    wanted = layers.parse(layers_asked)
    if (from_spools is None) == (not command):
        raise TailraceError(
            "give either a command after --, or --from-spools FOLDER", where="profile",
            hint="tailrace profile -- python script.py",
        )  # fmt: skip
    command = command or []
    if not output_file.parent.is_dir():
        raise TailraceError(
            "there is no such folder", where=str(output_file.parent), hint="make it first"
        )
    check_target(output_file, declarations.file_for(declared, os.environ))
    # The program may remove the folder that this was called in.
    target = output_file.parent.resolve() / output_file.name
    if from_spools is not None:
        _check_spools(from_spools, declared)
        found = _read(core, from_spools, command, wanted)
        write_text(target, profile_text(found))
        _tell(output, found, None, output_file, command, wanted.names)
        return int(ExitCode.OK)
    declaring = declarations.environment_for(declared, os.environ)
    use = " (`tailrace profile --from-spools {}` makes a profile of them)"
    with record.spool_folder(target, keep=keep_spools, tell=output.note, use=use) as spools:
        hooks = layers.prepare(wanted, command, spools, spool_mib)
        for note in hooks.notes:
            output.note(note)
        hooks.environment.update(declaring)
        words = record.with_environment(hooks.words, list(hooks.environment))
        ended = record.run(words, hooks.environment, quiet_stdout=as_json)
        with program_code.stays(output, ended):
            found = _read(core, spools, command, wanted)
            found["run"]["command_s"] = ended.elapsed_s
            if not keep_spools:
                for source in found["origin"].get("sources", []):
                    source["path"] = Path(source["path"]).name
            # A run that recorded nothing says nothing against an earlier one.
            kept = target.is_file() and not found["run"].get("processes")
            if not kept:
                write_text(target, profile_text(found))
    with program_code.stays(output, ended):
        _tell(output, found, ended, output_file, command, wanted.names, kept=kept)
    return ended.code


def _check_spools(folder: Path, declared: Path | None) -> None:
    if declared is not None:
        raise TailraceError(
            "the records have their declarations already", where="--declare",
            hint="give the file to `tailrace intents` or `tailrace advise`",
        )  # fmt: skip
    if not any(folder.glob("*.spool")):
        raise TailraceError(
            "there are no records of processes here (*.spool)", where=str(folder),
            hint="give the folder of TAILRACE_PROFILE_DIR, or FILE.spools beside a profile",
        )  # fmt: skip


def _read(core: Any, spools: Path, command: list[str], wanted: Layers) -> dict[str, Any]:
    from tailrace.intent import layers

    if not spools.is_dir():
        raise TailraceError(
            "the records of the processes are gone: the program removed the folder",
            where=str(spools), code=ExitCode.RUN_FAILED,
            hint="give -o a folder that the program leaves alone",
        )  # fmt: skip
    found: dict[str, Any] = json.loads(
        core.profile_of_spools(str(spools), readable(shlex.join(command)))
    )
    if not wanted.posix_of_all:
        layers.without_doubles(found)
    return found


def _core() -> Any:
    from tailrace.native import core, missing

    module = core()
    if module is None or not hasattr(module, "profile_of_spools"):
        raise missing("the compiled helper that reads what was recorded is missing", "profile")
    return module


def _tell(
    output: Output, found: dict[str, Any], ended: Any, file: Path, command: list[str],
    layers: Sequence[str], kept: bool = False,
) -> None:  # fmt: skip
    from tailrace.cli import program_code
    from tailrace.cli.profile_show import show

    processes = found["run"].get("processes", [])
    if not processes and ended is not None and ended.signal_number:
        output.note(
            f"nothing was recorded before the program ended with {ended.how} "
            "(run it without tailrace to see whether it does so too)", always=True,
        )  # fmt: skip
    elif not processes and ended is not None:
        what = ", ".join(_uses[layer] for layer in layers)
        output.note(
            f"nothing was recorded: `{shlex.join(command)}` opened none of these: {what}. Other "
            'causes are in docs/user/profile.md, "When nothing is recorded"'
        )
    if ended is not None and (processes or not ended.signal_number):
        more = "" if kept or not processes else "; the profile holds what it did before"
        program_code.tell(output, ended, more)
    show(output, found)
    if kept:
        output.note(f"no new profile: the earlier {file} stays", always=True)
    else:
        output.line(f"profile: {file}")
    output.json(
        {
            "command": "profile",
            "argv": command,
            "program_exit_code": None if ended is None else ended.code,
            "elapsed_s": None if ended is None else ended.elapsed_s,
            "profile": None if kept else str(file),
            "processes": len(processes),
            "files": len(found.get("files", [])),
            "notes": found["origin"].get("notes", []),
            "dropped": found["origin"].get("dropped", {}),
        }
    )
