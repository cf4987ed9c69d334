# SPDX-License-Identifier: Apache-2.0
"""Our Fortran modules as reStructuredText: the calls as a program writes them, with the words and
types of their arguments. It reads Fortran as we write it: `!>` above a procedure, `::` in each line
that declares arguments."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

_comment = r"((?:^ *![>!][^\n]*\n)*)"
_module = re.compile(rf"{_comment}^module (\w+)", re.M)
_type = re.compile(rf"{_comment}^  type :: (\w+)\n(.*?)^  end type", re.M | re.S)
_procedure = re.compile(
    rf"{_comment}^  (?:subroutine|function) (\w+)\((.*?)\)\n(.*?)^  end (?:subroutine|function)",
    re.M | re.S,
)
_bound = re.compile(r"^ *(?:procedure|generic) :: (\w+)(?: => (.*))?$", re.M)
_declared = re.compile(r"^ *(\S.*?) :: (.*)$", re.M)
_everywhere = ("stat", "errmsg")  # arguments that each call has: the module's words tell of them


@dataclass
class Procedure:
    """What is said of a procedure, its arguments in order, what is said of each and its type."""

    words: str
    said: dict[str, str]
    arguments: list[str]
    types: dict[str, str] = field(default_factory=dict)


def comment(block: str) -> tuple[str, dict[str, str]]:
    """The words of a comment of Doxygen, and those of each `@param`."""
    lines = [re.sub(r"^ *![>!] ?", "", line) for line in block.splitlines()]
    words, *parameters = re.split(r"^@param ", "\n".join(lines), flags=re.M)
    said = {one.split()[0]: " ".join(one.split()[1:]) for one in parameters}
    return words.strip(), said


def source_of(path: Path) -> str:
    """A module with what it includes, long lines united."""

    def included(found: re.Match[str]) -> str:
        return (path.parent / found[1]).read_text(encoding="utf-8")

    text = re.sub(r"^ *include '(.*)'\n", included, path.read_text(encoding="utf-8"), flags=re.M)
    return re.sub(r" *&\n *", " ", text)


def procedures_of(text: str) -> dict[str, Procedure]:
    """By name, all of a module."""
    found = {}
    for block, name, arguments, body in _procedure.findall(text, text.index("\ncontains\n")):
        one = Procedure(*comment(block), re.findall(r"\w+", arguments))
        for declared, names in _declared.findall(body):
            kind = re.sub(r", (contiguous|target|allocatable)\b", "", declared)
            for argument, shape in re.findall(r"(\w+)(\([^)]*\))?", names):
                one.types.setdefault(argument, kind + (f", dimension{shape}" if shape else ""))
        found[name] = one
    return found


def call(name: str, shown: str, specifics: list[Procedure], bound: bool) -> list[str]:
    """A call; of a generic one the arguments and types of all that it stands for."""
    first = specifics[0]
    words = [
        f"[{word}]" if "optional" in first.types[word] else word for word in first.arguments[bound:]
    ]
    lines = [f".. index:: single: {name} (Fortran)", ""]
    lines += [f".. describe:: call {shown}({', '.join(words)})", ""]
    lines += [f"   {line}" for line in first.words.splitlines()]
    lines.append("")
    for argument in dict.fromkeys(word for one in specifics for word in one.arguments[bound:]):
        if argument in _everywhere:
            continue
        owners = [one for one in specifics if argument in one.arguments]
        types = "`` or ``".join(dict.fromkeys(one.types[argument] for one in owners))
        said = next((one.said[argument] for one in owners if argument in one.said), "")
        lines.append(f"   :{argument}: ``{types}``{'; ' if said else ''}{said}")
    return [*lines, ""]


def continued(line: str) -> str:
    """A long line of Fortran in several."""
    return " &\n".join(textwrap.wrap(line, 88, initial_indent="   ", subsequent_indent="     "))


def page(path: Path) -> list[str]:
    """A module: its words, its constants, its types with their calls, its own procedures."""
    text = source_of(path)
    procedures = procedures_of(text)
    module = _module.search(text)
    assert module is not None, path
    lines = []
    for part in comment(module[1])[0].split("\n\n"):
        example = [".. code-block:: fortran", ""] if part.startswith("    ") else []
        lines += [*example, *part.splitlines(), ""]
    constants = re.findall(r"^ *(integer.*, public :: .*)$", text, re.M)
    if constants:
        lines += [".. code-block:: fortran", "", *map(continued, constants), ""]
    for block, kind, body in _type.findall(text):
        lines += [f"type({kind})", "-" * (len(kind) + 6), "", comment(block)[0], ""]
        handle = kind.removeprefix("tailrace_").removesuffix("_t")
        for name, specific in _bound.findall(body):
            meant = [procedures[one] for one in re.findall(r"\w+", specific or name)]
            lines += call(name, f"{handle}%{name}", meant, bound=True)
    for line in re.findall(r"^  public :: (.*)$", text, re.M):
        for name in line.split(", "):
            if name in procedures:
                lines += call(name, name, [procedures[name]], bound=False)
    return lines
