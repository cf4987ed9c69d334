# SPDX-License-Identifier: Apache-2.0
"""What a sweep varies: `--vary NAME=VALUE,VALUE`, and what each value does to a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tailrace.errors import TailraceError, did_you_mean
from tailrace.run.programs import MpiLibrary
from tailrace.sweep import hints, mpi_io

_where = "--vary"
_aliases = {"collective": "collective_write"}
_switches = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
_name = re.compile(r"[A-Za-z_][\w.]*")
not_set = "none"  # a value: the key is left out, the library or the kernel decides
_refused = {
    "results": "all Records of a sweep go to one file; give results=FILE among the inputs",
    "repeat": "--repeat N says how many repetitions every combination gets",
    "ranks": "`tailrace scale` varies the ranks; processor=4x1x1,2x2x1 varies the grid",
    "limit": "`tailrace run limit` measures the machine by itself",
}


@dataclass(frozen=True)
class Level:
    """A value. text: as typed. words: inputs of the kernel; environment and launcher: additions.

    key: the input it stands for, whose common value is taken away; empty for none.
    """

    text: str
    key: str = ""
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    exported: tuple[str, ...] = ()  # variables that a launcher has to be told of

    def effect(self) -> tuple[object, ...]:
        """Equal for two values that are the same thing: on and 1."""
        return self.words, tuple(sorted(self.environment.items()))


@dataclass(frozen=True)
class Factor:
    """kind: key, hint, mpiio, mca or env. name: as it is shown. subject: the key, hint, parameter
    or variable itself."""

    name: str
    kind: str
    subject: str
    levels: tuple[Level, ...]

    def setting(self, place: int) -> str:
        """`cb_nodes=2`."""
        return f"{self.name}={self.levels[place].text}"


@dataclass(frozen=True)
class Keys:
    """Inputs that a kernel knows, as its help lists them."""

    all: frozenset[str]
    flags: frozenset[str]

    @classmethod
    def of_help(cls, text: str) -> Keys:
        """From `PROGRAM --help`: lines of two blanks, the key, its values, and the text."""
        found = re.findall(r"^  ([a-z]\w*)(?: (\S.*?))??(?:  .*)?$", text, re.MULTILINE)
        return cls(
            frozenset(name for name, _ in found),
            frozenset(name for name, values in found if not values),
        )


def factors_of(texts: Sequence[str], keys: Keys, mpi: MpiLibrary | None) -> list[Factor]:
    """Raises TailraceError for what is none."""
    found = [_factor(text, keys, mpi) for text in texts]
    seen: dict[tuple[str, str], str] = {}
    for one in found:
        subject = (one.kind, one.subject)
        if subject in seen:
            raise TailraceError(
                f'"{one.name}" is varied twice', where=_where,
                hint=f"give all its values at once: {one.name}=VALUE,VALUE,VALUE",
            )  # fmt: skip
        seen[subject] = one.name
    return found


def split_values(text: str) -> list[str]:
    """By commas; one inside quotes or behind a backslash belongs to its value."""
    values, quote, escaped = [""], "", False
    for letter in text:
        if escaped:
            values[-1] += letter
            escaped = False
        elif letter == "\\":
            escaped = True
        elif quote:
            quote, values[-1] = (
                ("", values[-1]) if letter == quote else (quote, values[-1] + letter)
            )
        elif letter in "'\"":
            quote = letter
        elif letter == ",":
            values.append("")
        else:
            values[-1] += letter
    if quote or escaped:
        raise TailraceError(f"{text!r}: a quotation is not closed", where=_where)
    return values


def _factor(text: str, keys: Keys, mpi: MpiLibrary | None) -> Factor:
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not equals or not _name.fullmatch(name):
        raise TailraceError(
            f'"{text}" is no NAME=VALUE,VALUE', where=_where,
            hint="for example --vary cb_nodes=1,2,4 --vary collective=on,off",
        )  # fmt: skip
    kind, subject = _kind_of(name, keys)
    values = split_values(rest)
    if "" in values and kind != "env":
        raise TailraceError(
            f'"{text}" has an empty value', where=_where,
            hint=f"{not_set} stands for: not set",
        )  # fmt: skip
    levels = tuple(_level(kind, subject, value, keys, mpi) for value in values)
    first: dict[object, str] = {}
    for level in levels:
        effect = level.effect()
        if effect in first:
            raise TailraceError(
                f'"{name}": the values "{first[effect]}" and "{level.text}" are the same',
                where=_where, hint="give each value once",
            )  # fmt: skip
        first[effect] = level.text
    if len(levels) < 2:
        raise TailraceError(
            f'"{text}" has one value, so nothing varies', where=_where,
            hint=f"give several, {name}=A,B; what stays the same is no factor: {_as_input(name)}",
        )  # fmt: skip
    return Factor(name, kind, subject, levels)


def _as_input(name: str) -> str:
    """Where one value of a factor is given otherwise."""
    if name == "mpiio":
        return 'choose MPI-IO by --launcher "mpiexec --mca io ompio" (or romio321)'
    if name.startswith(("env.", "mca.")):
        return "set it in the environment"
    return "put it among the inputs (hints as hint=NAME=VALUE)"


def _kind_of(name: str, keys: Keys) -> tuple[str, str]:
    prefix, dot, rest = name.partition(".")
    if dot and rest and prefix in {"hint", "mca", "env"}:
        return prefix, rest
    if name == "mpiio" and name not in keys.all:
        return "mpiio", name
    subject = _aliases.get(name, name) if name not in keys.all else name
    if subject in _refused:
        raise TailraceError(f'"{name}" cannot be varied', where=_where, hint=_refused[subject])
    if subject in keys.all and subject != "hint":
        return "key", subject
    if hints.is_hint(name):
        return "hint", name
    known = [*keys.all, *_aliases, *hints.known, "mpiio"]
    raise TailraceError(
        f'there is nothing called "{name}" to vary.{did_you_mean(name, known)}', where=_where,
        hint="known: inputs of the kernel, MPI-IO hints (others as hint.NAME=), mpiio=, mca.NAME= "
        "and env.NAME=",
    )  # fmt: skip


def _level(kind: str, subject: str, value: str, keys: Keys, mpi: MpiLibrary | None) -> Level:
    if kind == "mpiio":
        chosen = mpi_io.component(mpi, value)
        return Level(value, environment={mpi_io.variable: chosen})
    if kind == "mca":
        mpi_io.require_open_mpi(mpi, f"mca.{subject}")
        variable = f"OMPI_MCA_{subject}"
        return Level(value, environment={} if value == not_set else {variable: value})
    if kind == "env":
        given = {} if value == not_set else {subject: value}
        return Level(value, environment=given, exported=tuple(given))
    key = f"hint={subject}" if kind == "hint" else subject
    if value == not_set:
        return Level(value, key)
    if subject in keys.flags:
        value_of_flag = _switches.get(value.lower(), value)
        return Level(value, key, (f"{key}={value_of_flag}",))
    return Level(value, key, (f"{key}={value}",))
