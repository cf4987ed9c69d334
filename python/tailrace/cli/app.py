# SPDX-License-Identifier: Apache-2.0
"""The commands."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from tailrace.cli.options import Json
from tailrace.cli.output import Output

_epilog = (
    "Begin with: `tailrace tune -- python slow.py`. More of a command: `tailrace tune --help`.\n\n"
    "Exit codes: 0 ok, 1 the run failed, 2 usage or configuration, 3 verification failed, "
    "4 a capability is missing; `profile` and `apply` end with that of their program."
)


def _epilog_of(command: str) -> str:
    page = _pages.get(command, f"docs/user/{command}.md")
    return f"Example: `{_examples[command]}`\n\nIts page: {page}"


_not_mixed: dict[str, Any] = {"context_settings": {"allow_interspersed_args": False}}
_wants_words: dict[str, Any] = {"no_args_is_help": True}
_examples = {
    "tune": "tailrace tune -- python slow.py",
    "advise": "tailrace advise profile.json -o plan.json",
    "apply": "tailrace apply plan.json -- python slow.py",
    "repack": "tailrace repack data.h5 --profile profile.json",
    "profile": "tailrace profile -- mpiexec -n 4 ./simulation",
    "intents": "tailrace intents profile.json",
    "rules": "tailrace rules show 13",
    "run": "tailrace run seism processor=2x2x1 domain=64x64x64 time=4",
    "sweep": "tailrace sweep seism time=4 --vary mpiio=ompio,romio --budget 10m",
    "scale": "tailrace scale seism --ranks 1,2,4 --mode weak time=4",
    "suite": "tailrace suite quick",
    "compare": "tailrace compare without.jsonl with.jsonl",
    "report": "tailrace report results.jsonl -o report.html",
    "submit": "tailrace submit slab n1=400000 n2=50 --nodes 2 --time 30 --dry-run",
    "verify": "tailrace verify before.h5 after.h5",
    "recover": "tailrace recover output",
    "doctor": "tailrace doctor /scratch/me",
    "env": 'eval "$(tailrace env plan.json)"',
}
_pages = {
    "rules": "docs/reference/rules.md", "env": "docs/user/apply.md",
    "recover": "docs/user/io_server.md",
}  # fmt: skip
# By group, in the order of the help; the function of a command is in the module NAME_command.
_groups: dict[str, dict[str, dict[str, Any]]] = {
    "Speed up": {
        "tune": _wants_words | _not_mixed,
        "advise": {},
        "apply": _wants_words,
        "repack": _wants_words,
    },
    "Understand": {"profile": _wants_words | _not_mixed, "intents": {}, "rules": {}},
    "Benchmark": {
        "run": {},
        "sweep": {},
        "scale": {},
        "suite": {},
        "compare": {},
        "report": {},
        "submit": {},
    },
    "Files": {"verify": {}, "recover": {}},
    "Set-up": {"doctor": {}, "env": {}},
}
_commands: dict[str, dict[str, Any]] = {
    name: {"rich_help_panel": group, "epilog": _epilog_of(name), **how}
    for group, commands in _groups.items()
    for name, how in commands.items()
}


class _Plain:
    """Help for who does not program: no types of arguments, none of flags, which take no value, and
    no braces around what has to be typed."""

    def get_params(self, context: Any) -> list[Any]:
        found: list[Any] = super().get_params(context)  # type: ignore[misc]
        for one in found:
            if isinstance(one, TyperArgument) or (isinstance(one, TyperOption) and one.is_flag):
                one.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        return found

    def collect_usage_pieces(self, context: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(context)  # type: ignore[misc]
        pieces = [re.sub(r"^\{(.+)\}(?=$|\.)", r"\1", piece) for piece in pieces]
        return [re.sub(r"\.\.\.(\]?)\.\.\.$", r"...\1", piece) for piece in pieces]


class _Command(_Plain, TyperCommand):
    pass


class _Group(_Plain, TyperGroup):
    pass


def app_for(words: Sequence[str]) -> typer.Typer:
    """The commands; only the one that the words name, where they name one, since importing all of
    them takes longer than many a command does."""
    app = typer.Typer(
        name="tailrace",
        cls=_Group,
        help="Measure, understand, tune and hide the output of parallel programs.",
        epilog=_epilog,
        no_args_is_help=False,
        invoke_without_command=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        add_completion=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for name in _named(words):
        module = importlib.import_module(f"tailrace.cli.{name}_command")
        app.command(cls=_Command, **_commands[name])(getattr(module, name))
    return app


def _named(words: Sequence[str]) -> list[str]:
    first = next((word for word in words if not word.startswith("-")), "")
    before = set(words[: words.index(first)]) if first else set()
    one_is_enough = (
        first in _commands
        and not before & {"-h", "--help"}
        and "_TAILRACE_COMPLETE" not in os.environ
    )
    return [first] if one_is_enough else list(_commands)


def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print versions and the commit, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    if version:
        from tailrace.cli.versions import print_versions

        print_versions(Output(as_json=as_json))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
