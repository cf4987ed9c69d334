# SPDX-License-Identifier: Apache-2.0
"""Entry point: runs a command and turns whatever goes wrong into an exit code and a text."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

import typer

from tailrace import interrupts
from tailrace.cli import program_code
from tailrace.cli.output import Output, json_requested
from tailrace.errors import ExitCode, TailraceError, did_you_mean

# What word processors and web pages make of "--": pasted options are understood all the same.
_dashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
# How the library tells of a value that is none of those of a Literal.
_choice = re.compile(r"for '(--[\w-]+)'.*: Value error, '(.*)' is not one of (.*)$", re.DOTALL)


def main(arguments: list[str] | None = None) -> NoReturn:
    """The `tailrace` command."""
    interrupts.install()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started it: nobody listens
            setattr(sys, name, Path(os.devnull).open("w", errors="backslashreplace"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):  # names in letters that this terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def plain_dashes(word: str) -> str:
    """`–-json`, `—json` and the like as `--json`; words that are not options stay as they are."""
    stripped = word.lstrip("-" + _dashes)
    lead = word[: len(word) - len(stripped)]
    if not any(dash in _dashes for dash in lead):
        return word
    if len(lead) == 1 and lead not in "\u2014\u2015" and len(stripped.partition("=")[0]) == 1:
        return f"-{stripped}"  # one short dash and one letter: a short option
    return f"--{stripped}"


def run(words: list[str]) -> int:
    """Runs a command in this process and returns its exit code; no exception leaves."""
    arguments = [plain_dashes(word) for word in words]
    output = Output(as_json=json_requested(arguments))

    def failed(error: TailraceError) -> int:
        error.code = program_code.of_own_failure(arguments, error.code)
        return _failed(output, error)

    try:
        from tailrace.cli.app import app_for

        code = app_for(arguments)(args=arguments, prog_name="tailrace", standalone_mode=False)
        sys.stdout.flush()
        interrupts.check()
        return int(code or 0)
    except TailraceError as error:
        return failed(error)
    except (KeyboardInterrupt, typer.Abort):
        interrupts.ignore()
        output.note("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough; nothing more may be written at exit.
        _write_nothing_more()
        return program_code.of_own_failure(arguments, ExitCode.RUN_FAILED)
    except MemoryError:
        return failed(TailraceError("not enough memory", code=ExitCode.RUN_FAILED))
    except OSError as error:
        return failed(_from_os_error(error))
    except typer.TyperException as error:
        return failed(_from_typer(error))
    except Exception as error:  # a bug of ours: said so, with what is needed to report it
        if os.environ.get("TAILRACE_TRACEBACK"):
            raise
        return failed(_unexpected(error))


def _write_nothing_more() -> None:
    """What is still in its buffer is not tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(output: Output, error: TailraceError) -> int:
    output.error(error)
    try:
        output.json({"error": error.as_json()})
    except OSError:  # it may be what failed: a full disk, say
        _write_nothing_more()
    return int(error.code)


def _from_typer(error: typer.TyperException) -> TailraceError:
    """Usage errors; the library's texts with our form."""
    text = error.format_message().replace("No such command", "there is no command")
    text = text.replace("No such option", "there is no option")
    if of := _choice.search(text):
        option, given, known = of[1], of[2], re.findall(r"'([^']*)'", of[3])
        what = f'there is no "{given}".{did_you_mean(given, known)}'
        return TailraceError(what, where=option, hint=f"known: {', '.join(known)}")
    context: Any = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "tailrace")
    where = command.removeprefix("tailrace").strip()
    if not text.strip("."):  # of a command with no words at all, after its help
        text = "it wants arguments"
    return TailraceError(text, where=where, hint=f"`{command} --help` lists what there is")


def _from_os_error(error: OSError) -> TailraceError:
    where = str(error.filename) if error.filename else ""
    return TailraceError(
        error.strerror or str(error) or type(error).__name__, where=where, code=ExitCode.RUN_FAILED
    )


def _unexpected(error: Exception) -> TailraceError:
    return TailraceError(
        f"unexpected {type(error).__name__}: {error}",
        hint="this is a defect; TAILRACE_TRACEBACK=1 shows where it happens, please report it",
        code=ExitCode.RUN_FAILED,
    )
