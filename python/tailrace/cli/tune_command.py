# SPDX-License-Identifier: Apache-2.0
"""`tailrace tune`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import xxhash

from tailrace.cli.advise_command import Rules
from tailrace.cli.options import (
    Allow,
    Command,
    Declare,
    Json,
    Quiet,
    allowed,
    minutes_of,
    old_name,
    renamed,
)
from tailrace.cli.output import Output
from tailrace.errors import ExitCode, TailraceError
from tailrace.readable import is_readable
from tailrace.units import span_of

To = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FOLDER", help="Folder for plan, profile and result."),
]
ScratchFolder = Annotated[
    Path | None,
    typer.Option(
        "--scratch", metavar="FOLDER", show_default=False,
        help="Folder in which runs work, on the file system that you want to measure. It needs "
        "room for four times what a run writes. [default: scratch, in the folder of -o]",
    ),
]  # fmt: skip
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout", metavar="TIME", show_default=False,
        help="Limit for one run: 90s, 10m. [default: 1h; for later runs five times the slowest "
        "default]",
    ),
]  # fmt: skip
OldLimit = Annotated[str, old_name("--limit")]
Link = Annotated[
    list[str],
    typer.Option(
        "--link", metavar="GLOB", show_default=False,
        help="Files or folders of the working folder that the program only reads. They are linked, "
        "not copied. You may give it several times.",
    ),
]  # fmt: skip
Stdin = Annotated[
    Path | None,
    typer.Option(
        "--stdin", metavar="FILE", show_default=False,
        help="Standard input of each run. [default: none]",
    ),
]  # fmt: skip
Cold = Annotated[
    bool, typer.Option("--cold", help="Put the inputs out of the page cache before each run.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be copied and run; run nothing.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted tune.")]
Search = Annotated[
    str,
    typer.Option(
        "--search", metavar="TIME", show_default=False,
        help="Search better numbers for the plan, for at most so long: 10m. [default: no search]",
    ),
]  # fmt: skip
Budget = Annotated[
    str,
    typer.Option(
        "--budget", metavar="TIME", show_default=False,
        help="Time for all runs together, without a search: 10m, 1h30m. [default: 15 times one run "
        "of the program, at least 2 minutes]",
    ),
]  # fmt: skip
InPlace = Annotated[
    bool,
    typer.Option("--in-place", help="Run in this folder itself, and restore it after each run."),
]
AllowOutside = Annotated[
    list[Path],
    typer.Option(
        "--allow-outside", metavar="FOLDER", show_default=False,
        help="The program may write there too, in each run. You may give it several times.",
    ),
]  # fmt: skip


def tune(
    command: Command,
    output_folder: To = Path("tailrace-tune"),
    scratch: ScratchFolder = None,
    timeout: Timeout = "",
    old_limit: OldLimit = "",
    link: Link = [],  # noqa: B006  (read only)
    stdin: Stdin = None,
    allow: Allow = [],  # noqa: B006  (read only)
    rules: Rules = [],  # noqa: B006  (read only)
    declared: Declare = [],  # noqa: B006  (read only)
    cold: Cold = False,
    budget: Budget = "",
    search: Search = "",
    in_place: InPlace = False,
    allow_outside: AllowOutside = [],  # noqa: B006  (read only)
    resume: Resume = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Make a program faster by settings, and prove that it is.

    It records one run, makes a plan, measures the program with the plan and without, compares the
    content of the files, and keeps the settings that pay. Runs work on copies in a scratch folder:
    your own files stay as they are.
    """
    from tailrace.cli.tune_show import show, show_preview
    from tailrace.cli.versions import version
    from tailrace.tune.request import Asked
    from tailrace.tune.session import preview
    from tailrace.tune.session import tune as make_it

    output = Output(as_json=as_json, quiet=quiet)
    home = Path.cwd()
    timeout = renamed(output, "--limit", old_limit, "--timeout", timeout)
    if stdin is not None and not stdin.is_file():
        raise TailraceError("there is no such file", where=f"--stdin {stdin}")
    for opened in allow_outside:
        if not opened.is_dir():
            raise TailraceError("there is no such folder", where=f"--allow-outside {opened}")
    _check_given(rules, declared)
    folder = output_folder.resolve()
    _check_paths(home, folder, *([scratch.resolve()] if scratch else []))
    own = f"tailrace-tune-{xxhash.xxh3_64_hexdigest(str(folder).encode())}"  # of this tune alone
    asked = Asked(
        command=command, home=home, output=folder,
        scratch=(scratch / own if scratch else folder / "scratch").resolve(),
        limit_s=span_of(timeout, "--timeout") if timeout else None, allow=allowed(output, allow),
        rules=tuple(rules), declared=tuple(declared),
        linked=tuple(link), stdin=stdin.absolute() if stdin else None, is_cold=cold,
        in_place=in_place, allow_outside=tuple(path.resolve() for path in allow_outside),
        search_minutes=minutes_of(output, search, "--search"),
        budget_minutes=minutes_of(output, budget, "--budget"), version=version(),
    )  # fmt: skip
    if dry_run:
        before = preview(asked)
        show_preview(output, before)
        output.json(before)
        return int(ExitCode.OK)
    result = make_it(asked, resume=resume, say=output.note)
    show(output, result)
    output.json(result)
    if result["verdict"] == "not_proven":
        return int(ExitCode.VERIFICATION_FAILED)
    return int(ExitCode.OK)


def _check_given(rules: Sequence[Path], declared: Sequence[Path]) -> None:
    """Raises where they are wrong: before a run, which may take long."""
    from tailrace.intent import advice, declarations

    if rules:
        advice.rule_table(rules)
    for name, text in declarations.read_all(declared):
        declarations.check(text, name)


def _check_paths(*folders: Path) -> None:
    """Raises: a plan, which is JSON, could not name the files of the runs."""
    for folder in folders:
        if not is_readable(str(folder)):
            raise TailraceError(
                "its path is not UTF-8, and no plan can name files below it", where=str(folder),
                hint="rename the folder, or work in another; --scratch and -o name others",
            )  # fmt: skip
