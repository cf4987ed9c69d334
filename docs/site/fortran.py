# SPDX-License-Identifier: Apache-2.0
"""Our Fortran modules as reStructuredText: the calls as a program writes them, with the words and the
types of the arguments. It reads how we write Fortran: `!>` above a procedure, a line per argument."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_procedure = re.compile(
    r"((?:^ *![>!][^\n]*\n)*)^  (?:subroutine|function) (\w+)\((.*?)\)\n(.*?)^  end (?:subroutine|function)",
    re.MULTILINE | re.DOTALL,
)
_type = re.compile(r"((?:^ *![>!][^\n]*\n)*)^  type :: (\w+)\n(.*?)^  end type", re.MULTILINE | re.DOTALL)
_declared = re.compile(r"^ *(\S.*?) :: (.*)$", re.MULTILINE)
EVERYWHERE = ("stat", "errmsg")  # arguments that each call has: what the module says of them


@dataclass
class Procedure:
    """A procedure: what is said of it, and its arguments in order."""

    words: str
    said: dict[str, str]
    arguments: list[str]
    types: dict[str, str] = field(default_factory=dict)


def comment(block: str) -> tuple[str, dict[str, str]]:
    """The words of a comment of Doxygen, and those of each argument."""
    lines = [re.sub(r"^ *![>!] ?", "", line) for line in block.splitlines()]
    words, *rest = re.split(r"^@param ", "\n".join(lines), flags=re.MULTILINE)
    said = dict((*part.split(None, 1), "")[:2] for part in rest)
    return words.strip(), {name: " ".join(text.split()) for name, text in said.items()}


def source_of(path: Path) -> str:
    """A module with what it includes, long lines united."""
    text = re.sub(
        r"^ *include '(.*)'\n", lambda found: (path.parent / found[1]).read_text(), path.read_text(),
        flags=re.MULTILINE,
    )  # fmt: skip
    return re.sub(r" *&\n *", " ", text)


def procedures_of(text: str) -> dict[str, Procedure]:
    """By name, all of a module."""
    found = {}
    for block, name, arguments, body in _procedure.findall(text[text.index("\ncontains\n") :]):
        one = Procedure(*comment(block), re.findall(r"\w+", arguments))
        for declared, names in _declared.findall(body):
            for listed in re.findall(r"(\w+)(\([^)]*\))?", names):
                one.types.setdefault(listed[0], declared + (f", dimension{listed[1]}" if listed[1] else ""))
        found[name] = one
    return found


def call(name: str, shown: str, specifics: list[Procedure], bound: bool) -> list[str]:
    """A call; of a generic one the types of all that it stands for."""
    first = specifics[0]
    arguments = first.arguments[1:] if bound else first.arguments
    words = [f"[{word}]" if "optional" in first.types[word] else word for word in arguments]
    lines = [f".. describe:: call {shown}({', '.join(words)})", ""]
    lines += [f"   {line}" for line in first.words.splitlines()]
    lines += ["", f"   .. index:: single: {name} (Fortran)", ""]
    names = list(dict.fromkeys(a for one in specifics for a in one.arguments[bound:]))
    for argument in names:
        if argument in EVERYWHERE:
            continue
        types = dict.fromkeys(
            re.sub(r", (contiguous|target|allocatable)\b", "", one.types[argument])
            for one in specifics if argument in one.arguments
        )  # fmt: skip
        said = next((s for one in specifics if (s := one.said.get(argument))), "")
        lines.append(f"   :{argument}: ``{'`` or ``'.join(types)}``{'; ' if said else ''}{said}")
    return [*lines, ""]


def page(path: Path) -> list[str]:
    """A module: its words, its constants, its types with their calls, its own procedures."""
    text = source_of(path)
    before, name = re.search(r"((?:^![>!][^\n]*\n)*)^module (\w+)", text, re.MULTILINE).groups()
    procedures = procedures_of(text)
    lines = [*comment(before)[0].replace("\n    ", "\n   ").splitlines(), ""]
    lines = ["\n::\n" if line == "" and following.startswith("   ") else line
             for line, following in zip(lines, [*lines[1:], ""], strict=True)]  # fmt: skip
    constants = re.findall(r"^ *(integer.*, public :: .*)$", text, re.MULTILINE)
    if constants:
        lines += [".. code-block:: fortran", "", *(f"   {line}" for line in constants), ""]
    for block, kind, body in _type.findall(text):
        lines += [f"type({kind})", "-" * (len(kind) + 6), "", comment(block)[0], ""]
        handle = kind.removeprefix("tailrace_").removesuffix("_t")
        for bound, meant in re.findall(r"^ *(?:procedure|generic) :: (\w+)(?: => (.*))?$", body, re.M):
            specifics = [procedures[one] for one in re.findall(r"\w+", meant or bound)]
            lines += call(bound, f"{handle}%{bound}", specifics, bound=True)
    public = [one for line in re.findall(r"^  public :: (.*)$", text, re.M) for one in line.split(", ")]
    for one in public:
        if one in procedures:
            lines += call(one, one, [procedures[one]], bound=False)
    return lines
